"""Oracle: records, places and bounds whose outcome is plain to see; what is expected beside what is found."""

from __future__ import annotations

from typing import Any

import pytest

from embcli.errors import UsageError
from embcli.report.expected import MISSING, compare, comparison, fits, mismatch, value_at

ROWS: list[dict[str, Any]] = [
    {"query": "king", "rank": 1, "word": "queen", "score": 0.77},
    {"query": "king", "rank": 2, "word": "prince", "score": 0.76},
    {"query": "dog", "rank": 1, "word": "puppy", "score": 0.5},
]
RECORD = {"stats": {"cost": 0.25, "loss.last": 2}, "A": [[1, 0], [0.5, 0.5]], "sum of X[0]": 3, "loss": [3.0, 2.0]}


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("stats.cost", 0.25), ("stats.loss.last", 2), ("A[1, 0]", 0.5), ("A[1]", [0.5, 0.5]), ("A", RECORD["A"]),
        ("sum of X[0]", 3), ("loss[-1]", 2.0), ("A[2]", MISSING), ("A[0, 2]", MISSING), ("B", MISSING),
        ("stats.none", MISSING), ("A.cost", MISSING), ("loss[0, 0]", MISSING),
    ],
)  # fmt: skip
def test_places(place: str, found: Any) -> None:
    assert value_at(RECORD, place) == found


@pytest.mark.parametrize(
    ("found", "due", "same"),
    [
        (3, 3, True), (3, 4, False), (0.7700004, 0.77, True), (0.7701, 0.77, False), (0.5, "> 0.4", True),
        (0.5, "> 0.5", False), (0.5, ">=0.5", True), (0.5, "<= 0.5", True), (0.5, "< 1e-1", False),
        (0.69, "0.7 +- 0.02", True), (0.67, "0.7 +- 0.02", False), (1e-5, "1e-5", True), ("<ca", "<ca", True),
        ("a", "b", False), ("2020", 2020, True), (None, None, True), (0, None, False), (True, True, True),
        (1, True, False), ([1, 2.0], [1, 2], True), ([1], [1, 2], False), ([[1], ["a"]], [[1], ["a"]], True),
        (3, [3], False), (float("nan"), 1, False), ("3", "> 2", False),
    ],
)  # fmt: skip
def test_values(found: Any, due: Any, same: bool) -> None:
    assert fits(found, due, 1e-6) is same


def test_a_number_is_not_expected_to_be_text() -> None:
    with pytest.raises(UsageError, match=r"expected 'queen', where the number 1 stands; give a number, or a bound"):
        compare(ROWS, [{"rank": "queen"}], 1e-6)


def test_a_record_must_agree_in_all_its_places() -> None:
    due = [{"query": "king", "word": "queen", "score": "> 0.7"}, {"query": "dog", "word": "queen"}]
    first, second = compare(ROWS, due, 1e-6)
    assert first.same and first.found == {"query": "king", "word": "queen", "score": 0.77}
    assert not second.same and mismatch([first]) == ""
    assert mismatch([first, second]).startswith("expected query dog, word queen; found query ")


def test_the_record_that_comes_closest_is_shown() -> None:
    """Most places first, of these most texts, of these the nearest number, of these the first."""
    (one,) = compare(ROWS, [{"query": "king", "rank": 2, "word": "princess"}], 1e-6)
    assert one.found == {"query": "king", "rank": 2, "word": "prince"}
    (one,) = compare(ROWS, [{"query": "king", "score": 0.761}], 1e-6)
    assert one.found == {"query": "king", "score": 0.76}
    (one,) = compare(ROWS, [{"word": "puppy", "rank": 2}], 1e-6)
    assert one.found == {"word": "puppy", "rank": 1}


def test_unknown_places_are_usage_errors() -> None:
    with pytest.raises(UsageError, match=r"expect: there is no 'scroe'; did you mean 'score'\?"):
        compare(ROWS, [{"word": "queen", "scroe": 1}], 1e-6)
    with pytest.raises(UsageError, match=r"there is no 'A\[9\]'"):
        compare([RECORD], [{"A[9]": 1}], 1e-6)
    assert compare([], [{"word": "queen"}], 1e-6)[0].found is None  # no record at all is no fault of the file


def test_the_table_says_yes_and_no() -> None:
    table = comparison(compare(ROWS, [{"word": "queen", "rank": 1}, {"word": "puppy", "rank": 2}], 1e-6))
    assert table.title == "NOT as expected"
    assert table.rows == [
        ["word queen, rank 1", "word queen, rank 1", "yes"], ["word puppy, rank 2", "word puppy, rank 1", "NO"],
    ]  # fmt: skip
    assert comparison(compare(ROWS, [{"rank": 1}], 1e-6)).title == "as expected"
    assert mismatch(compare([RECORD], [{"stats.cost": 0.3}], 1e-6)) == "stats.cost is 0.25, expected 0.3"
