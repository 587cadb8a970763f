"""What several inputs of ``cooc`` have in common: the options that counts were made with, and one vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.schema import Counts, Tokens, Words
from embcli.errors import InputError, KindError, UsageError
from embcli.spec import CoocParams
from embcli.text.vocab import Census, choose

Input = Tokens | Counts


@dataclass(frozen=True)
class Joint:
    """The words that any of several inputs has.

    words, unigram : ordered by frequency, descending, ties by bytes; inputs with the same words keep their order.
    names : for each input the number here of each of its words; int64.
    """

    words: Words
    unigram: NDArray[np.int64]
    names: list[NDArray[np.int64]]


def name_of(one: Input) -> str:
    """Return what messages call an input."""
    return one.path or one.kind


def rules(context: str) -> tuple[str, ...]:
    """Return the options that decide what a count means."""
    return ("context",) if context == "document" else ("context", "window", "direction", "weighting", "cross_rows")


def agreed(inputs: Sequence[Input], params: CoocParams) -> CoocParams:
    """Return the options that all inputs are counted with: those of the counts among them, if there are any.

    Raises
    ------
    KindError : texts were cut differently, or counts were made with different options; names both and the option.
    UsageError : an option is given that the counts were not made with, or counts come alone.
    """
    if len(inputs) == 1 and isinstance(inputs[0], Counts):
        raise UsageError(
            f"{name_of(inputs[0])}: is counted already; give tokens to count, or at least two inputs to add up"
        )
    _same_text(inputs)
    counts = [one for one in inputs if isinstance(one, Counts)]
    if not counts:
        return params
    first = _made_with(counts[0])
    for other in counts[1:]:
        for rule, found in _made_with(other).items():
            if rule not in first or found != first[rule]:
                raise KindError(
                    f"{name_of(counts[0])} was made with {_flag(rule, first.get(rule))}, {name_of(other)} with "
                    f"{_flag(rule, found)}: they cannot be added; count the same way"
                )
    plain = CoocParams()
    for rule, found in first.items():
        asked = getattr(params, rule)
        if asked != found and (len(counts) < len(inputs) or asked != getattr(plain, rule)):
            raise UsageError(
                f"{_flag(rule, asked)}: {name_of(counts[0])} was made with {_flag(rule, found)}; give the same here"
            )
    return replace(params, **first)


def _flag(rule: str, value: Any) -> str:
    """Return an option as it is typed."""
    flag = "--" + rule.replace("_", "-")
    if isinstance(value, bool):
        return flag if value else "--no-" + flag[2:]
    return f"{flag} {value}"


def _made_with(counts: Counts) -> dict[str, Any]:
    """Return the options that decide what these counts mean. Raises KindError if they do not say."""
    context = "document" if counts.rows is not None else "word"
    found = {"context": context} | {rule: counts.options.get(rule) for rule in rules(context)[1:]}
    missing = next((rule for rule, value in found.items() if value is None), None)
    floats = counts.data.dtype.kind == "f" and (context == "document" or found["weighting"] == "flat")
    if missing is not None or floats:
        what = f"does not say with which --{missing} it was made" if missing else "its counts are not whole numbers"
        raise KindError(f"{name_of(counts)}: {what}, so it cannot be added; take counts of embcli cooc")
    return found


def _same_text(inputs: Sequence[Input]) -> None:
    """Raise KindError if two texts were not cut the same way."""
    first = inputs[0]
    for other in inputs[1:]:
        for rule in dict.fromkeys((*first.text, *other.text)):
            here, there = first.text.get(rule), other.text.get(rule)
            if here != there:
                raise KindError(
                    f"the texts of {name_of(first)} and {name_of(other)} were cut differently: {rule} is {here!r} and "
                    f"{there!r}; encode both the same way"
                )


def join(inputs: Sequence[Input]) -> Joint:
    """Return one vocabulary for all inputs; frequencies are added.

    Raises InputError if an input has a word twice, or an empty one.
    """
    unigrams = [np.asarray(one.unigram, np.int64) for one in inputs]
    first = inputs[0].words
    if all(_equal(one.words, first) for one in inputs[1:]):
        return Joint(first, np.sum(unigrams, axis=0), [np.arange(len(first))] * len(inputs))
    census, numbers = Census(), []
    for one, unigram in zip(inputs, unigrams, strict=True):
        begins, sizes = one.words.offsets[:-1].astype(np.uint64), np.diff(one.words.offsets).astype(np.uint64)
        if not sizes.all():
            raise InputError(f"{name_of(one)}: has an empty word, so it cannot be added to others")
        found = census.table.add(one.words.data, begins, sizes, unigram.astype(np.uint64))
        if len(np.unique(found)) < len(found):
            raise InputError(f"{name_of(one)}: damaged: a word is there twice; make the file again")
        numbers.append(found)
    chosen = choose(census, 0, None, None, None)
    return Joint(chosen.words, chosen.unigram, [chosen.names[found].astype(np.int64) for found in numbers])


def _equal(a: Words, b: Words) -> bool:
    return a is b or (np.array_equal(a.offsets, b.offsets) and np.array_equal(a.data, b.data))
