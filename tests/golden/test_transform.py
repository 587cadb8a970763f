"""Oracle: numbers a reader can do by hand, in two dimensions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transform_twin import saved, transformed, vectors_of

from embcli.artifacts.schema import Words
from embcli.errors import InputError, KindError, NumbersError, UsageError

#: mean (2, 1); from there (-2, 0), (2, 0), (0, 1), (0, -1): variance 8 along the first axis, 2 along the second
CROSS = [[0, 1], [4, 1], [2, 2], [2, 0]]
QUARTER = np.array([[0, 1], [-1, 0]])


def test_center_subtracts_the_mean() -> None:
    assert transformed(CROSS, center=True).vectors.tolist() == [[-2, 0], [2, 0], [0, 1], [0, -1]]


def test_remove_top_takes_the_widest_direction_out() -> None:
    made = transformed(CROSS, remove_top=1)
    assert made.vectors == pytest.approx(np.array([[0, 0], [0, 0], [0, 1], [0, -1]]), abs=1e-7)
    assert made.stats["removed"] == pytest.approx(0.8) and made.stats["zero_rows"] == 2


def test_dim_keeps_the_widest_direction_with_a_positive_sign() -> None:
    made = transformed(CROSS, center=True, dim=1)
    assert made.vectors == pytest.approx(np.array([[-2], [2], [0], [0]]), abs=1e-7)
    assert made.stats["explained"] == pytest.approx(0.8) and made.options == {"dim": 1}
    # the widest direction of minus the rows is the same, so they change their signs
    assert transformed(-np.array(CROSS), center=True, dim=1).vectors == pytest.approx(-made.vectors)


def test_dim_without_center_is_of_the_rows_as_they_are() -> None:
    # X^T X = [[9, 0], [0, 17]]: the second axis first
    made = transformed([[3, 0], [0, 1], [0, 4]], dim=2)
    assert made.vectors == pytest.approx(np.array([[0, 3], [1, 0], [4, 0]]), abs=1e-7)
    assert transformed([[3, 0], [0, 1], [0, 4]], dim=1).stats["explained"] == pytest.approx(17 / 26)


def test_remove_top_and_dim_keep_what_follows() -> None:
    assert transformed(CROSS, remove_top=1, dim=1).vectors[:, 0] == pytest.approx([0, 0, 1, -1], abs=1e-7)


def test_unit_rows() -> None:
    assert transformed([[3, 4], [0, 0], [0, -2]], unit=True).vectors == pytest.approx(
        np.array([[0.6, 0.8], [0, 0], [0, -1]])
    )


def test_tables() -> None:
    two = vectors_of([[1, 2], [3, 4]], contexts=[[10, 20], [30, -4]], singular_values=np.array([2.0, 1.0]))
    assert transformed(two, table="output").vectors.tolist() == [[10, 20], [30, -4]]
    made = transformed(two, table="sum")
    assert made.vectors.tolist() == [[11, 22], [33, 0]]
    assert made.contexts is None and made.singular_values is None
    assert made.stats["left_out"] == ["contexts", "singular_values"]
    with pytest.raises(KindError, match=r"no contexts.*--table input"):
        transformed(CROSS, table="sum")


def test_concat_puts_unit_rows_of_shared_words_side_by_side() -> None:
    a = vectors_of([[3, 4], [1, 0], [0, 2]], ["x", "y", "z"])
    b = vectors_of([[5], [-2], [7]], ["z", "x", "other"])
    made = transformed(a, b, concat=True)
    assert list(made.words) == ["x", "z"] and made.unigram.tolist() == [3, 1]
    assert made.vectors == pytest.approx(np.array([[0.6, 0.8, -1], [0, 1, 1]]))
    with pytest.raises(KindError, match="no word"):
        transformed(a, vectors_of([[1, 1]], ["w"]), concat=True)


def test_a_quarter_turn_is_found(tmp_path: Path) -> None:
    table = np.array([[1, 0], [0, 1], [2, 1]])
    target = saved(tmp_path / "y.npz", table @ QUARTER)
    made = transformed(table, align_to=target)
    assert made.vectors == pytest.approx(table @ QUARTER, abs=1e-6)
    assert made.stats["anchors"] == 3 and made.stats["unknown_anchors"] is None
    assert made.stats["cosine_before"] == pytest.approx(0) and made.stats["cosine_after"] == pytest.approx(1)
    assert made.stats["residual"] == pytest.approx(0, abs=1e-6)


def test_alignment_neither_scales_nor_moves(tmp_path: Path) -> None:
    table = np.array([[1, 0], [0, 1]])
    made = transformed(table, align_to=saved(tmp_path / "y.npz", 3 * table))
    assert made.vectors == pytest.approx(table, abs=1e-6)
    assert made.stats["residual"] == pytest.approx(2 / 3)


def test_anchors_pair_words_of_two_languages(tmp_path: Path) -> None:
    target = saved(tmp_path / "y.npz", [[0, 1], [-1, 0], [9, 9]], ["eau", "feu", "bon jour"])
    (tmp_path / "pairs").write_bytes(b"\xef\xbb\xbfwater eau\r\n\nfire\tfeu\nfire feu\nsea mer\nhello\tbon jour\n")
    table = vectors_of([[1, 0], [0, 1]], ["water", "fire"])
    made = transformed(table, align_to=target, anchors=str(tmp_path / "pairs"))
    assert made.vectors == pytest.approx(QUARTER, abs=1e-6)
    assert (made.stats["anchors"], made.stats["unknown_anchors"]) == (2, 2)


def test_anchors_follow_the_case_of_a_folded_text(tmp_path: Path) -> None:
    target = saved(tmp_path / "y.npz", [[0, 1], [-1, 0]], ["Paris", "Rome"])
    (tmp_path / "pairs").write_text("Paris\nRome\n", encoding="utf-8")
    folded = vectors_of([[1, 0], [0, 1]], ["paris", "rome"], text={"lower": True})
    assert transformed(folded, align_to=target, anchors=str(tmp_path / "pairs")).stats["anchors"] == 2
    folded.text = {"lower": False}
    with pytest.raises(KindError, match="none of the pairs"):
        transformed(folded, align_to=target, anchors=str(tmp_path / "pairs"))


@pytest.mark.parametrize(
    ("text", "says"),
    [(b"one two three\n", "line 1.*one or two words"), (b"\xff", "not UTF-8"), (b"a\t\n b \tc\td", "line 2")],
)
def test_anchors_that_are_no_pairs(tmp_path: Path, text: bytes, says: str) -> None:
    target = saved(tmp_path / "y.npz", [[0, 1]])
    (tmp_path / "pairs").write_bytes(text)
    with pytest.raises(InputError, match=says):
        transformed([[1, 0]], align_to=target, anchors=str(tmp_path / "pairs"))


def test_zero_rows_stay_zero_and_count_for_no_mean() -> None:
    made = transformed([*CROSS, [0, 0]], center=True)
    assert made.vectors.tolist() == [[-2, 0], [2, 0], [0, 1], [0, -1], [0, 0]] and made.stats["zero_rows"] == 1


def test_documents_go_through_the_change_of_the_words() -> None:
    lsa = vectors_of(CROSS, documents=np.array([[2, 4], [0, 0]], np.float32), labels=Words.of(["one", "two"]))
    made = transformed(lsa, center=True, unit=True)
    assert made.documents.tolist() == [[0, 1], [0, 0]] and list(made.labels or []) == ["one", "two"]
    both = transformed(lsa, lsa, concat=True)
    assert both.documents is None and both.stats["left_out"] == ["documents"]


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    target = saved(tmp_path / "y.npz", [[1, 0, 0]])
    says: list[str] = []
    assert transformed(CROSS, dim=9, warnings=says).vectors.shape == (4, 2) and "lowered to 2" in says[0]
    flat = transformed([[1, 0], [3, 0]], dim=2, warnings=says)
    assert flat.vectors.tolist() == [[1, 0], [3, 0]] and "from 2 to 2 are zeros" in says[1]
    for fault, message, options in [
        (UsageError, "nothing to do", {}),
        (UsageError, "--align-to", {"anchors": "x"}),
        (UsageError, "found one", {"concat": True}),
        (UsageError, "has 2 dimensions", {"remove_top": 2}),
        (KindError, "has dimension 2 and .* 3; reduce", {"align_to": target}),
        (KindError, "has dimension 1 and", {"dim": 1, "align_to": target}),
    ]:
        with pytest.raises(fault, match=message):
            transformed(CROSS, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--concat"):
        transformed(CROSS, CROSS, unit=True)
    for options in ({"center": True}, {"remove_top": 1}, {"dim": 1}):
        with pytest.raises(NumbersError, match="all rows are zero"):
            transformed(np.zeros((3, 2)), **options)  # type: ignore[arg-type]
    with pytest.raises(NumbersError, match=r"rank 1; .*--remove-top 1"):
        transformed([[1, 1], [2, 2], [4, 4]], remove_top=1)
    with pytest.raises(InputError, match="not finite"):
        transformed([[1, np.inf]], unit=True)
