"""Oracle: the table of options in the documentation, and the rules of spec.py by hand."""

from __future__ import annotations

import math

import pytest

from embcli.errors import UsageError
from embcli.spec import STEPS, CoocParams, EncodeParams, SvdParams, fields, make, recorded


def test_defaults_of_the_contract() -> None:
    found = {(s, f.flag): f.default for s, step in STEPS.items() for f in fields(step.params)}
    expected = {
        ("encode", "--split"): "words",
        ("encode", "--min-count"): 5,
        ("encode", "--gaps"): "close",
        ("encode", "--rows"): "line",
        ("encode", "--errors"): "strict",
        ("cooc", "--window"): 5,
        ("cooc", "--weighting"): "harmonic",
        ("cooc", "--direction"): "symmetric",
        ("svd", "--weight"): None,
        ("svd", "--shift"): 1.0,
        ("svd", "--cds"): 0.75,
        ("svd", "--dim"): 100,
        ("svd", "--eig"): None,
        ("svd", "--solver"): "auto",
        ("neighbors", "--top"): 10,
    }
    assert {k: found[k] for k in expected} == expected


def test_no_option_is_called_alpha() -> None:
    assert not [f for s in STEPS.values() for f in fields(s.params) if f.name == "alpha"]


@pytest.mark.parametrize(("value", "made"), [("1e-1", 0.1), (1, 1.0), ("0.75", 0.75)])
def test_text_becomes_a_number(value: object, made: float) -> None:
    assert make(SvdParams, {"cds": value}).cds == made


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"dimm": 3}, "did you mean 'dim'"),
        ({"dim": 0}, "at least 1"),
        ({"dim": -1}, "at least 1"),
        ({"dim": 2.5}, "whole number"),
        ({"dim": True}, "expected a number"),
        ({"cds": math.nan}, "finite"),
        ({"cds": 0}, "above 0"),
        ({"cds": "no"}, "expected a number"),
        ({"weight": "ppmo"}, "did you mean 'ppmi'"),
        ({"weight": False}, "expected one of"),
    ],
)
def test_a_bad_value_is_named(values: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make(SvdParams, values)


def test_a_window_of_zero_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--window"):
        make(CoocParams, {"window": 0})


def test_options_that_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="--words"):
        make(EncodeParams, {})
    with pytest.raises(UsageError, match="--unk"):
        make(EncodeParams, {"words": True, "unk": "<unk>", "gaps": "keep"})


def test_what_cannot_change_a_result_is_not_recorded() -> None:
    names = {f.name for f, _ in recorded(CoocParams())}
    assert names == {"window", "direction", "weighting", "context", "cross_rows"}
