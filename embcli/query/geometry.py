"""The geometry of tables of vectors: norms and cosines by frequency, spectrum, under-trained rows, clusters.

Everything is exact and blocked: no matrix of pairs is made. Figures do not depend on the number of threads. The parts
are in bands.py, spectrum.py, undertrained.py and clusters.py; how they look is report/geometry.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from embcli.artifacts.schema import MAKERS, Artifact, Counts, Vectors
from embcli.errors import KindError
from embcli.job import Job
from embcli.query.bands import Band, bands
from embcli.query.clusters import Clusters, clusters
from embcli.query.dense import DenseRows
from embcli.query.space import open_space
from embcli.query.spectrum import Spectrum, moments, spectrum
from embcli.query.starts import start_of
from embcli.query.tables import as_vectors
from embcli.query.undertrained import Ranking, undertrained
from embcli.spec import EvalParams, NeighborsParams


@dataclass(frozen=True)
class Geometry:
    """What was found about one artifact.

    ``artifact`` is its place among the artifacts, ``name`` what to call it, ``table`` which of its tables, ``rows``
    and ``dim`` its shape, ``zero_rows`` how many of the rows are all zeros. Without ``--geometry`` there are no
    ``bands``, ``spectrum`` and ``rankings`` (of under-trained rows), without ``--clusters`` no ``clusters``.
    """

    artifact: int
    name: str
    table: str
    rows: int
    dim: int
    zero_rows: int
    bands: tuple[Band, ...] = ()
    spectrum: Spectrum | None = None
    rankings: tuple[Ranking, ...] = ()
    clusters: Clusters | None = None


def geometry(artifacts: Sequence[Artifact], params: EvalParams, job: Job, names: Sequence[str] = ()) -> list[Geometry]:
    """Measure the rows of each artifact.

    Parameters
    ----------
    artifacts
        Opened ``Vectors``, or a ``Model``: its token rows, or its output rows; or contextual states.
    params
        ``geometry``, ``clusters``, ``table``, ``restrict`` (first N rows only), ``undertrained``, ``top``, ``seed``.
    job
        Its threads share the rows; figures do not depend on how many there are.
    names
        What to call the artifacts; their paths, if they are not given.

    Raises
    ------
    KindError
        If an artifact holds no vectors, or no output table and one is asked for.
    InputError
        If an artifact is damaged, holds numbers that are not finite, or memory is short.
    """
    found = []
    for at, artifact in enumerate(map(as_vectors, artifacts)):
        name = names[at] if at < len(names) else artifact.path or f"artifact {at + 1}"
        found.append(_measure(at, _vectors(artifact, name), name, params, job))
    return found


def _vectors(artifact: Artifact, name: str) -> Vectors:
    """Return the artifact if it has dense rows. Raises KindError that says what to run if it has not."""
    if isinstance(artifact, Vectors):
        return artifact
    hint = f"run 'embcli svd {name} -o vectors.npz' first" if isinstance(artifact, Counts) else MAKERS["vectors"]
    raise KindError(f"{name}: --geometry and --clusters need kind 'vectors', found {artifact.kind!r}; {hint}")


def _measure(at: int, artifact: Vectors, name: str, params: EvalParams, job: Job) -> Geometry:
    """Return what was found about one artifact."""
    rows = open_space(artifact, NeighborsParams(table=params.table), name, job)
    assert isinstance(rows, DenseRows)
    limit = min(params.restrict or rows.shape[0], rows.shape[0])
    about = moments(rows, limit, job)
    made = clusters(rows, artifact.unigram, about, params, job) if params.clusters else None
    zero_rows = int((about.norms == 0).sum())
    found = Geometry(at, name, params.table, limit, rows.shape[1], zero_rows, clusters=made)
    if not params.geometry:
        return found
    # the start is that of the input table
    start = start_of(artifact.meta) if params.table == "input" else None
    return replace(
        found,
        bands=bands(rows, artifact.unigram, about, start, artifact.meta, job),
        spectrum=spectrum(rows, about, job),
        rankings=undertrained(artifact, params, limit, name, job),
    )
