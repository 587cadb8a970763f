"""Oracle: the text itself, written out; and what a terminal, a spreadsheet and a JSON reader would make of it."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embcli.query.expression import Term
from embcli.query.neighbors import Answer, Neighbor
from embcli.query.resolve import Unknown
from embcli.report.answers import answer_tables, unanswered
from embcli.report.display import padded, shown, width
from embcli.report.tables import Column, Table, render

COLUMNS = [Column("rank", "right"), Column("word"), Column("score", "right", digits=".4f"), Column("count", "right")]
QUEEN = Table("king - man + woman", COLUMNS, [(1, "queen", 0.712345, 412), (2, "女王", -0.5, None)], ["a note"])
AWKWARD = "a\tb\nc\x1b[31md\u2028\u202ee\\"


def test_plain_text_is_aligned_and_bare() -> None:
    assert render(QUEEN) == (
        "king - man + woman\n"
        "  rank  word     score  count\n"
        "     1  queen   0.7123    412\n"
        "     2  女王   -0.5000\n"
        "  a note\n"
    )


def test_a_table_without_title_is_not_indented() -> None:
    assert render(Table("", [Column("a"), Column("b", "right")], [("x", 1)])) == "a  b\nx  1\n"
    assert render(Table("", [Column(""), Column("")], [("x", "y"), ("long", "z")])) == "x     y\nlong  z\n"


def test_groups_stand_over_their_columns() -> None:
    left, right = [Column("word", group="a"), Column("n", "right", "a")], Column("word", group="longer name")
    columns = [Column("rank", "right"), *left, right]
    assert render(Table("t", columns, [(1, "x", 2, "y")])) == (
        "t\n"
        "        a        longer name\n"
        "  rank  word  n  word\n"
        "     1  x     2  y\n"
    )  # fmt: skip


def test_tsv_has_one_line_a_row_and_numbers_in_full() -> None:
    table = Table("title", COLUMNS, [(1, AWKWARD, 0.123456789, None)], ["note"])
    assert render(table, "tsv") == (
        "rank\tword\tscore\tcount\n1\ta\\tb\\nc\\x1b[31md\\u2028\u202ee\\\\\t0.123456789\t\n"
    )


def test_json_lines_are_objects_that_give_the_cells_back() -> None:
    table = Table("title", COLUMNS, [(1, AWKWARD, 0.5, None), (2, "é", 1.0, 3)])
    for encoding in ("utf-8", "latin-1", "ascii"):
        lines = render(table, "jsonl", encoding=encoding).encode(encoding).decode(encoding).splitlines()
        assert [list(json.loads(line).values()) for line in lines] == [list(row) for row in table.rows]
        assert list(json.loads(lines[0])) == ["rank", "word", "score", "count"]


def test_a_key_names_a_column_for_machines() -> None:
    table = Table("", [Column("how often", key="count")], [(3,)])
    assert render(table, "tsv") == "count\n3\n" and json.loads(render(table, "jsonl")) == {"count": 3}


@pytest.mark.parametrize("terminal", [False, True])
def test_nothing_in_a_cell_or_title_reaches_the_terminal_raw(terminal: bool) -> None:
    text = render(Table(AWKWARD, COLUMNS, [(1, AWKWARD, 0.5, 1)], [AWKWARD]), terminal=terminal, width=200)
    assert "\u202e" not in text
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in text.replace("\n", ""))
    assert text.count("a\\tb\\nc\\x1b[31md\\u2028\\u202ee") == 3


def test_a_terminal_gets_a_drawn_table_and_markup_stays_text() -> None:
    table = Table("[bold]x[/bold]", COLUMNS, [(1, "[red]queen[/red] :smile:", 0.5, 1)], ["[dim]"])
    plain, colored = (render(table, terminal=True, width=80, color=color) for color in (False, True))
    assert "\x1b" not in plain and "\x1b[1m" in colored
    assert "[red]queen[/red] :smile:" in plain and "[bold]x[/bold]" in plain and "─" in plain


def test_a_terminal_draws_groups_and_long_words() -> None:
    columns = [Column("rank", "right"), Column("word", group="a.npz"), Column("word", group="b.npz")]
    text = render(Table("t", columns, [(1, "w" * 200, "y")]), terminal=True, width=60)
    assert "a.npz" in text and "b.npz" in text and all(len(line) <= 60 for line in text.splitlines())
    assert text.count("w") == 200 + 2


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_what_the_console_cannot_show_is_replaced_and_stays_aligned(terminal: bool, encoding: str) -> None:
    table = Table("t", [Column("word"), Column("n", "right")], [("東京", 1), ("x", 22)])
    text = render(table, terminal=terminal, encoding=encoding)
    text.encode(encoding)
    assert "\\u6771\\u4eac" in text
    if not terminal:
        assert len({len(line) for line in text.splitlines()[1:]}) == 1
    assert "\\u" not in render(table, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("", 0), ("東京", 4), ("e\u0301", 1), ("ｶ", 1), ("👩", 2), ("नु", 1), ("한", 2), ("\u1112\u1161", 2)],
)
def test_width_is_that_of_a_terminal(text: str, columns: int) -> None:
    assert width(text) == columns


@given(st.text(max_size=8), st.integers(8, 60), st.sampled_from(["left", "right"]))
def test_padding_fills_exactly(text: str, columns: int, align: str) -> None:
    text = shown(text)
    if width(text) <= columns:
        filled = padded(text, columns, align)
        assert width(filled) == columns and text in filled


@given(st.text(max_size=20))
def test_shown_text_stays_on_its_line(text: str) -> None:
    made = shown(text)
    assert made.strip() and len(made.splitlines()) == 1
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") for c in made)


def test_ordinary_text_is_shown_as_it_is() -> None:
    for text in ("queen", "naïve", "東京", "e\u0301", "नि", "👩‍👩‍👧", "back\\slash", "it's"):
        assert shown(text) == text
    assert [shown(text) for text in ("", " ", "\u0301")] == ["''", "' '", "'\u0301'"]


def _answer(artifact: int, *words: str, **more: object) -> Answer:
    lines = tuple(Neighbor(i, word, 0.9 - i / 10, 10 * i, False) for i, word in enumerate(words, 1))
    return Answer("q", artifact, "king", (Term(1, "king"),), results=lines, **more)  # type: ignore[arg-type]


def test_artifacts_stand_side_by_side() -> None:
    unknown = _answer(1, unknown=(Unknown("king", ("King",)),))
    (table,) = answer_tables([_answer(0, "queen", "prince"), unknown], ["a.npz", "b.npz"], "table")
    assert render(table) == (
        "king\n"
        "        a.npz                  b.npz\n"
        "  rank  word     score  count  word  score  count\n"
        "     1  queen   0.8000     10\n"
        "     2  prince  0.7000     20\n"
        "  b.npz: 'king' is unknown\n"
    )
    assert unanswered([unknown], ["a.npz", "b.npz"]) == ["b.npz: unknown word 'king'; did you mean King?"]


def test_an_analogy_says_what_the_inputs_would_have_done() -> None:
    other = (Neighbor(1, "king", 0.9939, 3, True), Neighbor(2, "queen", 0.9738, 2, False))
    answer = _answer(0, "queen", rule="3CosAdd, unit length first", other=other)
    (table,) = answer_tables([answer], ["a.npz"], "table")
    assert table.notes == ["without king (3CosAdd, unit length first); with them: king 0.9939, queen 0.9738"]


def test_machines_get_plain_keys_and_no_unanswered_queries() -> None:
    answers = [_answer(0, "queen"), _answer(1, unknown=(Unknown("king", ()),))]
    (table,) = answer_tables(answers, ["a.npz", "b.npz"], "jsonl")
    assert [json.loads(line) for line in render(table, "jsonl").splitlines()] == [
        {"query": "q", "artifact": "a.npz", "rank": 1, "word": "queen", "score": 0.8, "count": 10}
    ]
    assert answer_tables(answers[1:], ["b.npz"], "table") == []


@pytest.mark.parametrize(("score", "text"), [(12.5, "12.5000"), (1.25e8, "1.25e+08"), (0.00012, "0.00012")])
def test_distances_of_any_size_can_be_read(score: float, text: str) -> None:
    answer = Answer("q", 0, "q", (), results=(Neighbor(1, "w", score, None, False),))
    (table,) = answer_tables([answer], ["a"], "table", "euclidean")
    assert text in render(table) and "distance" in render(table)
