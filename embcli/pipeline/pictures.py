"""From paths, words and options to pictures: what ``plot`` draws. Writes nothing.

The command comes here, and whoever wants a picture in a report: ``picture`` for SVG or PNG, ``page`` for a map in a
browser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from embcli.artifacts import store
from embcli.errors import InputError, UsageError
from embcli.job import Job
from embcli.report.plots import Picture
from embcli.spec.pictures import WORDLESS

if TYPE_CHECKING:
    from embcli.query.neighbors import Answer

#: pictures of one artifact only
_SINGLE = ("analogies", "attention")
#: the kinds that each picture reads; a map shows any table of rows
_READS = {"loss": ("vectors", "model"), "attention": ("context",)}
#: characters without a font that are listed
_SPELLED = 8
_TABLES = ("vectors", "model", "context")


def picture(paths: Sequence[str], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]) -> Picture:
    """Return a picture of artifacts, as SVG or PNG.

    Raises UsageError if queries do not fit the picture, InputError if no word is known or matplotlib is missing, and
    what ``store.read`` raises.
    """
    check(paths, queries, params)
    from embcli.report.looks import missing_glyphs

    artifacts = _opened(paths, params)
    with missing_glyphs() as missing:
        made = _DRAWN[params.show](artifacts, queries, params, job, names)
    if missing and made.form == "png":  # in an .svg text stays text, and the viewer has fonts of its own
        made = Picture(made.data, made.form, (*made.notes, _boxes(missing)))
    return made


def page(paths: Sequence[str], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]) -> Picture:
    """Return a map, or the weights, of one artifact as a page to explore in a browser; see ``picture``."""
    from embcli.query.pictured import choose
    from embcli.report.page import map_page

    if len(paths) > 1:
        raise UsageError(f"--html: a page shows one artifact, found {len(paths)}; write one for each")
    (artifact,) = _opened(paths, params)
    if params.show == "attention":
        from embcli.report.heads_html import heads_html

        return _written(heads_html(artifact, _labels(artifact)), "html")
    chosen = choose(artifact, 0, queries, params, names[0], job)
    lost = _lost(chosen.missing, names, not chosen.words)
    return _with(map_page(chosen, names[0], params, job), lost)


def check(paths: Sequence[str], queries: Sequence[str], params: Any) -> None:
    """Raise UsageError if queries or the number of artifacts do not fit the picture."""
    if params.show == "analogies" and not queries:
        raise UsageError("--show analogies: give expressions such as 'king - man + woman'")
    if params.show == "analogies" and (params.frequent or params.around):
        raise UsageError("--show analogies: shows the words of the expressions; leave --frequent and --around out")
    if params.show in WORDLESS and queries:
        raise UsageError(f"--show {params.show}: takes no words, and there is {queries[0]!r}; leave it out")
    if params.show in _SINGLE and len(paths) > 1:
        raise UsageError(f"--show {params.show}: draws one artifact, found {len(paths)}; run it for each")


def _opened(paths: Sequence[str], params: Any) -> list[Any]:
    return [store.read(path, _READS.get(params.show, _TABLES), command="plot") for path in paths]


def _map(artifacts: Sequence[Any], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]) -> Picture:
    from embcli.query.pictured import choose
    from embcli.report.plots import map_picture

    chosen = [choose(one, at, queries, params, names[at], job) for at, one in enumerate(artifacts)]
    missing = [answer for one in chosen for answer in one.missing]
    lost = _lost(missing, names, any(not one.words for one in chosen))
    return _with(map_picture(chosen, names, params), lost)


def _analogies(
    artifacts: Sequence[Any], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]
) -> Picture:
    from embcli.query.pictured import parallels
    from embcli.report.plots import analogy_picture

    found, missing, without = parallels(artifacts[0], queries, params, names[0], job)
    lost = _lost(
        missing, names, not found, [f"{names[0]}: {query!r} has no answer to draw: {why}" for query, why in without]
    )
    return _with(analogy_picture(found, names[0], params), lost)


def _boxes(missing: set[str]) -> str:
    """Return a line about characters that no font has."""
    from embcli.report.display import shown

    some, more = sorted(missing)[:_SPELLED], len(missing) - _SPELLED
    listed = " ".join(shown(character) for character in some) + (f" and {more:,} more" if more > 0 else "")
    return f"no font here has {listed}; a box stands for each; an .svg keeps them as text"


def _losses(artifacts: Sequence[Any], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]) -> Picture:
    from embcli.query.curves import losses
    from embcli.report.curves import loss_picture

    return loss_picture(losses(artifacts, names), params)


def _spectrum(artifacts: Sequence[Any], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]) -> Picture:
    from embcli.query.curves import singular
    from embcli.report.curves import spectrum_picture

    return spectrum_picture(singular(artifacts, names, params, job), params)


def _frequency(
    artifacts: Sequence[Any], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]
) -> Picture:
    from embcli.query.curves import by_frequency
    from embcli.report.curves import frequency_picture

    found = [by_frequency(one, at, queries, params, names[at], job) for at, one in enumerate(artifacts)]
    lost = _lost([answer for one in found for answer in one.missing], names, False)
    return _with(frequency_picture(found, params), lost)


def _attention(
    artifacts: Sequence[Any], queries: Sequence[str], params: Any, job: Job, names: Sequence[str]
) -> Picture:
    """Draw the weights of every head: an SVG needs no library and suits light and dark, pixels need matplotlib."""
    (context,) = artifacts
    if params.form == "svg":
        from embcli.report.heads_svg import heads_svg

        return _written(heads_svg(context, _labels(context)), "svg")
    from embcli.report.heads_png import heads_png

    return heads_png(context, _labels(context), params, f"Attention weights in {names[0]}")


def _labels(context: Any) -> list[str]:
    """Return the token at each place of a context, without the place."""
    return [name.rpartition("@")[0] for name in context.words]


def _written(pieces: Iterable[str], form: str) -> Picture:
    return Picture("".join(pieces).encode("utf-8", "backslashreplace"), form)


def _lost(missing: Sequence[Answer], names: Sequence[str], nothing: bool, more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return lines about unknown words, and ``more``. Raises InputError with them if ``nothing`` is there to draw."""
    from embcli.report.answers import unanswered

    lines = (*unanswered(missing, names), *more)
    if nothing:
        raise InputError("; ".join(lines) or f"{names[0]}: has nothing to draw")
    return lines


def _with(made: Picture, lost: Sequence[str]) -> Picture:
    return Picture(made.data, made.form, (*lost, *made.notes))


_DRAWN: dict[str, Callable[..., Picture]] = {
    "map": _map, "analogies": _analogies, "loss": _losses, "spectrum": _spectrum, "frequency": _frequency,
    "attention": _attention,
}  # fmt: skip
