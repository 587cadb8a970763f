"""The step ``encode --words``: from raw text to token ids, in two passes of which only the first sees the text.

The first (``scan``) leaves provisional ids on disk. Then the lanes' types become one vocabulary (``vocab``). The second
reads the ids back and renames them while the artifact is written. Phrases are joined between the two (``phrases``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Blocks, Tokens, Words
from embcli.artifacts.spill import Spill
from embcli.errors import KindError, NumbersError, UsageError
from embcli.job import Job
from embcli.kernels.words import rename
from embcli.spec import EncodeParams
from embcli.text import unicode
from embcli.text.corpus import BLOCK
from embcli.text.cutting import Cut, cut
from embcli.text.decode import decode
from embcli.text.joining import join_phrases
from embcli.text.knownphrases import join_given, join_known
from embcli.text.phrases import JOINER, Scoring
from embcli.text.rows import Rows
from embcli.text.scan import Piece, Scan, scan
from embcli.text.vocab import DROPPED, Census, Vocabulary, choose, merge

__all__ = ["count_only", "cut", "cut_rule", "decode", "encode", "join_known"]


def encode(inputs: Sequence[str], params: EncodeParams, job: Job, *, block: int = BLOCK) -> Tokens:
    """Return the tokens of a text; the ids are produced while they are written.

    Parameters
    ----------
    inputs : paths of files and folders; - is stdin.
    params : the options of ``encode``.
    job : gets the digest of each input in ``sources``.
    block : bytes to read at a time; the result depends neither on it nor on the threads.

    Raises
    ------
    InputError : a file is missing, damaged or not UTF-8.
    KindError : the file of ``--vocab`` has no vocabulary of words.
    UsageError : an option conflicts with how the text of ``--vocab`` was cut.
    NumbersError : no word is left.
    """
    if params.tokenizer is not None:
        from embcli.text.bpe_encode import encode_pieces

        return encode_pieces(inputs, params, job, block=block)
    rule, given, unk = resolve(params)
    found = scan(inputs, rule, params.rows, job, spill=True, block=block)
    census = merge(found.lanes, rule.lower)
    found, joined = _join(found, census, rule, params, given, job)
    chosen = choose(census, params.min_count, params.max_vocab, unk, given)
    top = settle(inputs, params, rule, chosen, joined, job)
    if params.gaps == "keep":
        chosen.names[chosen.names == DROPPED] = top
    names = [chosen.names[numbers] for numbers in census.numbers]
    offsets, dtype = Spill(np.int64, job.scratch), np.min_scalar_type(top)
    ids = Blocks(dtype, _renamed(found, names, offsets, dtype, job))
    return tokens_of(ids, offsets, chosen, found.rows, params, rule, unk, joined)


def settle(
    inputs: Sequence[str], params: EncodeParams, rule: Cut, chosen: Vocabulary, joined: dict[str, Any], job: Job
) -> int:
    """Return the highest id that the text will have, after saying what is remarkable. NumbersError: no word is left."""
    if not chosen.stats["tokens_kept"]:
        raise _nothing_left(inputs, params, chosen.stats)
    _remark(rule, params, chosen.stats | joined, job)
    return len(chosen.words) - (params.gaps != "keep")


def tokens_of(
    ids: Any,
    offsets: Any,
    chosen: Vocabulary,
    rows: Rows,
    params: EncodeParams,
    rule: Cut,
    unk: str | None,
    joined: dict[str, Any],
) -> Tokens:
    """Return the artifact; ``ids`` and ``offsets`` may be produced while they are written."""
    return Tokens(
        ids=ids,
        row_offsets=offsets,
        words=chosen.words,
        unigram=chosen.unigram,
        stats=_stats(rows, chosen, joined),
        text={"unit": "words", "split": rule.split, "lower": rule.lower}
        | {"rows": params.rows, "gaps": params.gaps, "unk": unk}
        | ({"phrases": rule.phrases, "joiner": JOINER} if rule.phrases else {}),
        options={"split": rule.split, "lower": rule.lower, "unk": unk, "specials": None}
        | ({} if params.phrases else {"phrase_threshold": None})
        | ({"phrase_discount": scoring(params).discount} if params.phrases else {}),
    )


def count_only(inputs: Sequence[str], params: EncodeParams, job: Job) -> dict[str, Any]:
    """Return the ``stats`` that ``encode`` would store. No ids are made, and that no word is left is no error."""
    if params.tokenizer is not None:
        from embcli.text.bpe_encode import count_pieces_only

        return count_pieces_only(inputs, params, job)
    rule, given, unk = resolve(params)
    found = scan(inputs, rule, params.rows, job, spill=rule.phrases > 0)
    census = merge(found.lanes, rule.lower)
    found, joined = _join(found, census, rule, params, given, job)
    return _stats(found.rows, choose(census, params.min_count, params.max_vocab, unk, given), joined)


def cut_rule(params: EncodeParams) -> tuple[Cut, Words | None]:
    """Return how ``encode`` with these options cuts text, and the words of ``--vocab``, if it is given."""
    rule, given, _ = resolve(params)
    return rule, given


def resolve(params: EncodeParams) -> tuple[Cut, Words | None, str | None]:
    """Return the cut, the given words and the word for dropped ones; options at their defaults follow ``--vocab``."""
    if params.vocab is None:
        return Cut(params.split, params.lower, params.errors, params.phrases), None, params.unk
    from embcli.artifacts import store

    found = store.read(params.vocab, command="encode")
    words, how = getattr(found, "words", None), found.text
    if not isinstance(words, Words) or how.get("unit", "words") != "words":
        raise KindError(f"{params.vocab}: --vocab: expected a vocabulary of words; make one: embcli encode --words")
    split, lower = how.get("split", params.split), how.get("lower", params.lower)
    if params.split not in ("words", split):
        raise UsageError(f"--split {params.split}: {params.vocab} was cut with --split {split}; leave the option out")
    if params.lower and not lower:
        raise UsageError(f"--lower: the words of {params.vocab} were not folded to lower case; leave the option out")
    unk = params.unk
    if unk is None and params.gaps == "close":
        unk = how.get("unk")
    return Cut(split, lower, params.errors, how.get("phrases", 0)), words, unk


def scoring(params: EncodeParams) -> Scoring:
    """Return which pairs are phrases; the discount is ``--min-count`` unless it is given."""
    discount = float(params.min_count if params.phrase_discount is None else params.phrase_discount)
    return Scoring(params.min_count, params.phrase_threshold, discount)


def _join(
    found: Scan, census: Census, rule: Cut, params: EncodeParams, given: Words | None, job: Job
) -> tuple[Scan, dict[str, Any]]:
    """Return the text with phrases joined, and what the report says of them: nothing where none were asked for."""
    if not rule.phrases:
        return found, {}
    if given is not None:
        found, joined = join_given(found, census, rule.phrases, given, job)
    else:
        found, joined = join_phrases(found, census, rule.phrases, scoring(params), job)
    return found, {"phrases": joined}


def _renamed(
    found: Scan, names: list[NDArray[np.uint32]], offsets: Spill, dtype: np.dtype[Any], job: Job
) -> Iterator[NDArray[Any]]:
    """Yield the final ids, and append to ``offsets`` where the rows begin and end among them."""
    offsets.append(np.zeros(1, np.int64))

    def work(piece: Piece) -> tuple[NDArray[Any], NDArray[np.int64]]:
        return renamed(piece.ids, piece.ends, names[piece.lane], dtype)

    kept = 0
    for ids, places in job.map(work, found.pieces()):
        offsets.append(places + kept)
        kept += len(ids)
        yield ids


def renamed(
    ids: NDArray[np.uint32], ends: NDArray[np.int64], names: NDArray[np.uint32], dtype: np.dtype[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the final ids of provisional ones, without those that are dropped, and how many stand before each end."""
    out, places = np.empty(len(ids), np.uint32), np.empty(len(ends), np.int64)
    n = rename(ids, names, DROPPED, ends, out, places)
    return out[: int(n)].astype(dtype), places


def _remark(rule: Cut, params: EncodeParams, stats: dict[str, Any], job: Job) -> None:
    """Say what a user may not expect: how text is cut with --vocab, that most of it was dropped, or nothing joined."""
    if params.vocab and (rule.split, rule.lower) != (params.split, params.lower):
        job.note(f"cut as {params.vocab} was: --split {rule.split}{' --lower' if rule.lower else ''}")
    if rule.split == "words" and not params.vocab and 2 * stats["tokens_kept"] < stats["tokens_read"]:
        job.note("most words are too rare and were dropped; for a text without spaces between words try --split chars")
    if rule.phrases and not stats["phrases"]["joins"]:
        why = f"in {params.vocab}" if params.vocab else f"above --phrase-threshold {params.phrase_threshold:g}"
        job.note(f"no two neighbors make a phrase {why}; nothing was joined")


def _stats(rows: Rows, chosen: Vocabulary, joined: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of the report; those of ``choose`` are of the text with its phrases ``joined``."""
    return chosen.stats | {
        "rows": rows.rows,
        "open_rows": rows.open_rows,
        "bad_sequences": rows.bad,
        "bytes_read": rows.size,
        "unicode": unicode.version(),
        **joined,
    }


def _nothing_left(inputs: Sequence[str], params: EncodeParams, stats: dict[str, Any]) -> NumbersError:
    """Return the error that says why no word is left."""
    name = ", ".join(inputs[:3]) + (", ..." if len(inputs) > 3 else "")
    if not stats["tokens_read"]:
        advice = "give a text with words in it"
    elif params.vocab:
        advice = f"none of them is in {params.vocab}; give a vocabulary of such text"
    else:
        advice = f"give --min-count {stats['highest_count']} or less, or more text"
    return NumbersError(
        f"{name}: nothing left to learn from: {stats['tokens_read']:,} tokens read, "
        f"{stats['types_read']:,} distinct words, highest count {stats['highest_count']:,}, "
        f"threshold --min-count {params.min_count:,}; {advice}"
    )
