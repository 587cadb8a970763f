"""Approximate search through an index in a file beside the vectors: made once, mapped when it is asked. An extra.

The index only proposes rows; they are scored as the exact search scores them. What it misses is missing, so a sample
says how much that is. The exact search: scan.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts import identify, store
from embcli.errors import InputError, KindError, UsageError
from embcli.job import Job, human_bytes
from embcli.query.dense import DenseRows, exact_scores, unit_rows
from embcli.query.scan import Plan, scan
from embcli.query.space import Space
from embcli.query.topk import Best
from embcli.spec import NeighborsParams

#: links of a row, and how many rows are looked at for one that is added and for one that is asked for
LINKS, WIDTH, LOOK = 16, 128, 128
#: rows asked for beyond those that are shown, and rows added in one go
_SPARE, _ADDED = 32, 1 << 15
#: rows whose nearest ones are compared with the exact ones, and how many of those
SAMPLE, NEAREST = 200, 10
_METRICS = {"cosine": "cos", "dot": "ip", "euclidean": "l2sq"}


@dataclass(frozen=True)
class About:
    """What an index belongs to, kept in a file beside it: FILE.json.

    recall : the share of the exact ``NEAREST`` of ``SAMPLE`` evenly spaced rows that the index finds.
    """

    vectors: str
    table: str
    metric: str
    rows: int
    links: int
    width: int
    recall: float


class Index:
    """The index of one table, opened, or made and kept if its file is not there.

    Raises KindError for rows that are sparse, InputError if the library is missing, the file is of other vectors or
    options, or cannot be read or written.
    """

    def __init__(self, path: str, space: Space, digest: str, params: NeighborsParams, job: Job) -> None:
        if not isinstance(space, DenseRows):
            raise KindError(f"--index: {space.name} holds counts; make vectors of them with 'embcli svd'")
        self.path, self.space, self.metric = path, space, params.metric
        self._library = _library()
        if os.path.exists(path):
            self._open(digest, params)
            job.note(f"{identify.show(path)}: approximate search, {self.recall}")
        else:
            self._make(digest, params, job)

    @property
    def recall(self) -> str:
        """What the sample said, for people."""
        return f"recall {100 * self.about.recall:.1f} % (of the exact {NEAREST} nearest of {SAMPLE} sampled rows)"

    def _open(self, digest: str, params: NeighborsParams) -> None:
        shown = identify.show(self.path)
        try:
            with open(f"{self.path}.json", encoding="utf-8") as file:
                self.about = About(**json.load(file))
            self._index = self._library.Index.restore(self.path, view=True, enable_key_lookups=False)
            self._index.expansion_search = LOOK
        except FileNotFoundError:
            raise InputError(
                f"{shown}: {self._seen()}: there is no {os.path.basename(shown)}.json beside it; name another file for "
                "the index"
            ) from None
        except Exception as e:  # the library has errors of its own
            why = (e.strerror if isinstance(e, OSError) else "") or " ".join(str(e).split())[:60] or type(e).__name__
            raise InputError(
                f"{shown}: is no index of embcli's with {os.path.basename(shown)}.json beside it ({why}); if it was "
                "one, remove both, and it is made again"
            ) from None
        for name, found, due in (
            ("vectors", self.about.vectors, digest),
            ("--table", self.about.table, params.table),
            ("--metric", self.about.metric, params.metric),
            ("rows", len(self._index) if self._index is not None else 0, self.about.rows),
        ):
            if found != due:
                raise InputError(f"{shown}: is the index of other {name} ({str(found)[:12]}, not {str(due)[:12]}); "
                    "name another file, or remove it, and it is made again")  # fmt: skip

    def _seen(self) -> str:
        """Return what there is instead of an index."""
        if not os.path.isfile(self.path):
            return "is no file, so no index"
        return "is an artifact, no index" if identify.is_zip(self.path) else "is no index of embcli's"

    def _make(self, digest: str, params: NeighborsParams, job: Job) -> None:
        """Make the index on the job's threads. Rows of zeros are not in it, where the metric is cosine."""
        n, dim = self.space.shape
        store.check_target(self.path)
        kind = "f16" if self.metric == "cosine" else "f32"
        job.need(n * (dim * (2 if kind == "f16" else 4) + 10 * LINKS + 64), "the index")
        self._index = self._library.Index(
            ndim=dim, metric=_METRICS[self.metric], dtype=kind, connectivity=LINKS, expansion_add=WIDTH,
            expansion_search=LOOK, enable_key_lookups=False,
        )  # fmt: skip
        for start in range(0, n, _ADDED):
            stop = min(start + _ADDED, n)
            rows: NDArray[Any] = self.space.take(slice(start, stop))
            keys = np.arange(start, stop, dtype=np.uint64)
            if self.metric == "cosine":
                rows, zero = unit_rows(rows)
                rows, keys = np.delete(rows, zero, 0), np.delete(keys, zero)
            self._index.add(keys, np.ascontiguousarray(rows), threads=job.threads)
            self.space.done(start, stop)
            job.progress(stop, n, "rows")
        self.about = About(digest, params.table, self.metric, len(self._index), LINKS, WIDTH, 0.0)
        self.about = About(**asdict(self.about) | {"recall": self._measured(job)})
        with store.open_target(self.path) as file:
            self._index.save(file.name)
        with store.open_target(f"{self.path}.json") as file:
            file.write(json.dumps(asdict(self.about), indent=1).encode() + b"\n")
        size = human_bytes(os.path.getsize(self.path))
        same = "" if job.threads == 1 else "; made by several threads, so another one may differ (--threads 1 does not)"
        job.note(f"{identify.show(self.path)}: index of {self.about.rows:,} rows, {size}, {self.recall}{same}")

    def _measured(self, job: Job) -> float:
        """Return the share of the exact nearest rows of a sample that the index finds."""
        n = self.space.shape[0]
        rows = np.unique(np.linspace(0, n - 1, min(SAMPLE, n)).astype(np.int64)).tolist()
        probes = self.space.probes([((1,), (row,)) for row in rows], self.metric == "cosine")
        asked = [(row, probe) for row, probe in zip(rows, probes, strict=True) if self.space.length(probe) > 0]
        plans, k = [Plan((probe,)) for _, probe in asked], min(NEAREST + 1, n)
        exact, found = scan(plans, self.space, self.metric, n, k, job), self.search(plans, k)
        due = kept = 0
        for (row, _), near, got in zip(asked, exact.rows.tolist(), found.rows.tolist(), strict=True):
            wanted = set(
                [other for other in near if other not in (row, -1)][:NEAREST]
            )  # that it finds itself says little
            due, kept = due + len(wanted), kept + len(wanted & set(got))
        return kept / due if due else 1.0

    def search(self, plans: Sequence[Plan], k: int) -> Best:
        """Return about the best ``k`` rows for each plan of one probe, with the scores of the exact search."""
        best = Best(len(plans), k)
        wanted = min(k + _SPARE, len(self._index))
        for at, plan in enumerate(plans):
            (probe,) = plan.probes
            found = self._index.search(probe.astype(np.float32), wanted, threads=1).keys.astype(np.int64)
            rows = np.unique(found)
            scores = exact_scores(self.space.take(rows).astype(np.float64), probe[None], self.metric)
            if self.metric == "cosine":
                scores = np.round(scores, 6) + 0.0
            best.add(np.full(len(rows), at), rows, scores)
        return best


def check(params: NeighborsParams, artifacts: int) -> None:
    """Raise UsageError if options do not fit an index."""
    if artifacts != 1:
        raise UsageError(f"--index: belongs to one artifact, and there are {artifacts}; run it for each")
    if params.method == "mul":
        raise UsageError("--index: finds what is near one point; leave out --method mul")
    if params.restrict is not None:
        raise UsageError("--index: holds all rows; leave out --restrict")


def _library() -> Any:
    try:
        from usearch import index
    except ImportError:
        raise InputError("--index needs a package that is not installed: run 'pip install usearch'") from None
    return index
