"""``cooc`` on a cluster: ranges of tokens become rows of whole sums in files, which are added up by ranges of rows.

Several inputs have rows of their own, over words of their own, and are added up over those that any of them has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embcli.artifacts.joined import Joined, read_part, write_part
from embcli.artifacts.schema import Counts, Tokens
from embcli.cluster.connection import Cluster
from embcli.cluster.count_tasks import Given, bucketed, buckets_of, check_counts, count_part, sum_joint, sum_rows
from embcli.cluster.partitions import MOST
from embcli.counts import merge, windows
from embcli.counts.budget import Task, plan
from embcli.counts.cooc import finished
from embcli.counts.join import Joint, agreed, join
from embcli.counts.slices import Source, cut
from embcli.job import Job
from embcli.spec import CoocParams, parse_size

#: tokens of a partition at most, unless memory asks for fewer
LARGEST = 1 << 26
#: ranges of rows for each task that runs at a time
RANGES = 2
#: bytes of the budget for each row of a range and each part: where it begins there, an eighth of the budget in all
_BOUNDS = 8 * 8


def count(inputs: list[Any], params: CoocParams, job: Job, cluster: Cluster) -> Counts:
    """Return what ``counts.cooc.count`` does, the same bytes. Raises as that does."""
    params = agreed(inputs, params)
    budget, asked = parse_size(params.memory) if params.memory else cluster.budget, params.memory is not None
    files = [(cluster.file_of(one, f"input-{i}"), one.digest) for i, one in enumerate(inputs)]
    joint = join(inputs)
    if params.context == "document":
        from embcli.cluster.documents import documents

        return finished(documents(inputs, files, joint, budget, asked, cluster), inputs, params)
    if len(inputs) > 1:
        merge.warn(inputs, job)
    given = [_given(cluster, i, one, files[i], joint, params, (budget, asked)) for i, one in enumerate(inputs)]
    size = len(joint.words)
    pieces, held = _counted(inputs, given, params, cluster, size)
    ranges = [*ranges_of(held, size, RANGES * cluster.threads, budget // (_BOUNDS * len(pieces) + 1))]
    rows = buckets_of(size)[1]
    weights = [int(held[a // rows : -(-b // rows)].sum()) for _, a, b in ranges]
    work: Any = sum_rows
    more: tuple[Any, ...] = (cluster.folder, len(pieces), size, params, given[0].how)
    if len(inputs) > 1:  # a plan for no tokens: what is held are rows of all inputs and of their sum
        whole = plan(Task(size, params.window, 4, 0), budget, 1, asked)
        work, more = sum_joint, (cluster.folder, given, pieces, size, params, whole)
    found = cluster.map(work, ranges, *more, unit="cells", sizes=weights)
    cells, total = [n for n, _ in found], sum(whole for _, whole in found)
    if not sum(cells):
        raise merge.nothing(inputs, params)
    stats = {"words": size, **merge.figures_of(inputs), **windows.sums_of(sum(cells), total, params)}
    made = Counts(
        **joined_rows(cluster, cells, np.int64 if windows.divisor(params) is None else np.float64),
        shape=np.array([size, size]),
        words=joint.words,
        unigram=joint.unigram,
        stats=stats | {"denominator": windows.rule_of(params)[1]},
    )
    return finished(made, inputs, params)


def _given(
    cluster: Cluster,
    i: int,
    one: Any,
    file: tuple[str, str],
    joint: Joint,
    params: CoocParams,
    limits: tuple[int, bool],
) -> Given:
    """Return an input for the tasks."""
    names = cluster.path(f"names-{i}")
    write_part(names, joint.names[i])
    if not isinstance(one, Tokens):
        return Given(*file, names, None)
    windows.check_sums(one, params)
    return Given(*file, names, plan(windows.task_of(one, params), limits[0], 1, limits[1]))


def _counted(
    inputs: Sequence[Any], given: Sequence[Given], params: CoocParams, cluster: Cluster, size: int
) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
    """Count the texts among the inputs, and check the counts.

    Returns the pieces that were counted, (number, input), and the cells that all inputs have in each bucket of rows.
    """
    held, sizes = np.zeros(buckets_of(size)[0], np.int64), list[int]()
    items = list[tuple[int, int, int, int]]()
    checks: list[Given] = []
    for i, (one, each) in enumerate(zip(inputs, given, strict=True)):
        if each.how is None:
            checks.append(each)
            held += bucketed(np.diff(one.indptr), read_part(each.names, np.int64), size)
            continue
        source = Source.of(one, params.cross_rows)
        places = max(-(-source.places // cluster.threads), 1), max(LARGEST, source.places // MOST)
        for start, stop in cut(source, min(each.how.places, *places)):
            items.append((len(items), i, start, stop))
            sizes.append(stop - start)
    cluster.map(check_counts, checks, merge.limit_of(inputs), windows.divisor(params), unit="inputs")
    more = (cluster.folder, given, params, size)
    for found in cluster.map(count_part, items, *more, unit="tokens", sizes=sizes):
        held += found
    return [(number, i) for number, i, *_ in items], held


def joined_rows(cluster: Cluster, cells: Sequence[int], dtype: Any) -> dict[str, Any]:
    """Return the matrix that parts of rows with so many cells make."""
    n, bases = range(len(cells)), (np.cumsum(cells) - cells).tolist()
    return {
        "data": Joined(dtype, [cluster.path(f"data-{i}") for i in n]),
        "indices": Joined(np.int32, [cluster.path(f"cols-{i}") for i in n]),
        "indptr": Joined(np.int64, [cluster.path(f"ends-{i}") for i in n], bases, [0]),
    }


def ranges_of(held: NDArray[np.int64], size: int, count: int, most: int) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of rows (number, first, end), ``count`` of about as many cells each, or more.

    They are whole buckets, of at most ``most`` rows together, but one at least.
    """
    rows, ends = buckets_of(size)[1], np.cumsum(held)
    goals = int(ends[-1]) * np.arange(1, count) // count
    cuts = range(0, len(held), max(most // rows, 1))
    edges = np.unique([*cuts, *(np.searchsorted(ends, goals) + 1).tolist(), len(held)])
    for i, (a, b) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        yield i, a * rows, min(b * rows, size)
