"""What a model says comes next: texts continued token by token, and given words ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Model
from embcli.errors import InputError, UsageError
from embcli.job import Job
from embcli.models import attention, layers, transformer
from embcli.models.readers import Reader, check_length, reader
from embcli.models.texts import Cut, cut_texts, cutter, text_of
from embcli.models.transformer import Config
from embcli.spec import AttendParams

#: tells the draws from other random numbers of the same seed
_STREAM = 0x5341_4D50


@dataclass(frozen=True)
class Candidate:
    """A word that was asked for: log P of its tokens where it would stand, None if it has no token there."""

    word: str
    tokens: int
    log_prob: float | None


def continued(model: Model, params: AttendParams, job: Job) -> Iterator[tuple[str, str]]:
    """Yield each text with what the model continues it by, ``params.sample`` tokens drawn one after another.

    A token is drawn from softmax(logits / temperature) among the ``top_k`` best; temperature 0 takes the best (of equal
    ones the lowest id). Draws depend on the seed, the text's number and the place alone.

    Raises UsageError for a masked model, InputError for a text without a known token or too long.
    """
    use = reader(model, params)
    if use.config.masked:
        raise UsageError(f"--sample: {model.path or 'the model'} was trained masked and does not say what comes next")
    cuts = cut_texts(model, params, job)
    for number, each in enumerate(cuts, 1):
        if not len(each.ids):
            raise InputError(f"text {number}: {each.text!r} has no known token to begin with")
    check_length(use, [len(each.ids) for each in cuts], job, params.sample - 1)
    for number, each in enumerate(cuts):
        ids, reading = each.ids.tolist(), Reading(use.config, use.parameters, len(each.ids) + params.sample)
        for place in range(params.sample):
            job.progress(number * params.sample + place, len(cuts) * params.sample, "tokens")
            rng = np.random.default_rng([_STREAM, job.seed, number, place])
            Z = reading.further(ids if place == 0 else ids[-1:])
            ids.append(draw(Z, params.temperature, params.top_k, rng.random()))
        yield text_of(model, each.ids), _rest(model, each, ids)


def _rest(model: Model, each: Cut, ids: list[int]) -> str:
    """Return what was added to a text; words have a space before them."""
    whole, start = text_of(model, ids), text_of(model, each.ids)
    return whole[len(start) :] if whole.startswith(start) else " " + text_of(model, ids[len(each.ids) :])


class Reading:
    """A model of next tokens that reads one text piece by piece; keys and values of what it has read are kept.

    Logits are those of ``transformer.forward`` up to rounding; a token costs O(T) instead of O(T^2).
    """

    def __init__(self, config: Config, parameters: transformer.Parameters, room: int) -> None:
        """Begin with an empty text of at most ``room`` tokens."""
        self.config, self.parameters = config, parameters
        self.layers = [transformer.layer_of(parameters, number) for number in range(config.layers)]
        shape = (config.heads, room, config.dim // config.heads)
        kind = parameters["token_rows"].dtype
        self.past = [transformer.Past(np.empty(shape, kind), np.empty(shape, kind)) for _ in self.layers]
        self.read = 0

    def further(self, ids: list[int]) -> NDArray[np.float64]:
        """Read T >= 1 further tokens; return the logits (V,) of what follows them."""
        H = transformer.first_inputs(self.config, self.parameters, np.array(ids, np.int64), self.read)
        mask = attention.causal(len(ids), self.read)
        self.read += len(ids)
        for layer, past in zip(self.layers, self.past, strict=True):
            H, _ = transformer.block(self.config, layer, H, mask, past)
        last = layers.layer_norm(H[-1:], self.parameters["final_gain"], self.parameters["final_bias"])
        return np.asarray(transformer.scores(self.config, self.parameters, last)[0], np.float64)


def draw(Z: NDArray[np.float64], temperature: float, top_k: int, chance: float) -> int:
    """Return an id drawn from logits Z (V,) by a number ``chance`` in [0, 1): see ``continued``."""
    order = np.argsort(-Z, kind="stable")
    if temperature == 0:
        return int(order[0])
    kept = order[:top_k] if top_k else order
    p = np.exp(layers.log_softmax((Z[kept] - Z[kept[0]]) / temperature))
    return int(kept[min(int(np.searchsorted(np.cumsum(p), chance * p.sum(), "right")), len(kept) - 1)])


def ranked(
    use: Reader, text: NDArray[np.int64], words: list[str], params: AttendParams
) -> list[tuple[str, list[Candidate]]]:
    """Return words ranked at each [MASK] of a text (masked), or behind it (causal), with log P, the best first.

    A word of several tokens has the sum of their log P, each given those before it; behind a [MASK] only words of one
    token can be ranked. Words stand as words do: BPE tokens begin with a blank. Returns (place, candidates).
    """
    ids, _ = cutter(use.artifact, params)([word if _has(use, word) else f" {word}" for word in words])
    if use.config.masked:
        L = _log_probs(use, text)
        places = np.flatnonzero(text == use.config.vocabulary).tolist()
        named = [
            (f"[MASK] at {at + 1}", [float(L[at, row[0]]) if len(row) == 1 else None for row in ids]) for at in places
        ]
    else:
        named = [("behind the text", [_following(use, text, row) for row in ids])]
    return [(place, _sorted(words, ids, values)) for place, values in named]


def _has(use: Reader, word: str) -> bool:
    """Return whether words need no blank before them: they are no BPE tokens, or bring their own."""
    how: dict[str, Any] = use.artifact.text
    return how.get("unit") != "bpe" or bool(how.get("end_of_word")) or word.startswith(" ")


def _following(use: Reader, text: NDArray[np.int64], row: list[int]) -> float | None:
    """Return log P(row | text), None if either is empty."""
    if not row or not len(text):
        return None
    ids = np.concatenate([text, np.array(row[:-1], np.int64)])
    L = _log_probs(use, ids)[len(text) - 1 :]
    return float(L[np.arange(len(row)), row].sum())


def _log_probs(use: Reader, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    seen = use.see(ids)
    assert seen.final is not None
    return layers.log_softmax(transformer.scores(use.config, use.parameters, seen.final).astype(np.float64))


def _sorted(words: list[str], ids: list[list[int]], values: list[float | None]) -> list[Candidate]:
    found = [Candidate(w, len(row), v) for w, row, v in zip(words, ids, values, strict=True)]
    return sorted(found, key=lambda each: -np.inf if each.log_prob is None else each.log_prob, reverse=True)
