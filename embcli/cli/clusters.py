"""Where steps run under ``--cluster``: one step on a connection of its own, or those of a whole run on one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any

from embcli.job import Job, human_bytes
from embcli.spec import Step

#: what ``pipeline.execute`` needs to know of where a step runs
How = dict[str, Any]


@contextmanager
def alone(where: str, step: Step, job: Job) -> Iterator[How]:
    """Yield how to run one step on a cluster. What cannot be done there is an error."""
    from embcli.cluster.client import connect
    from embcli.cluster.connection import place

    with connect(where, job.note) as client, place(where, client, job) as there:
        job.note(f"cluster {where}: {there.threads} tasks at a time, {human_bytes(there.budget)} each to plan with")
        yield {"function": _function(step, there), "write": there.write}


@contextmanager
def together(where: str, note: Callable[[str], None]) -> Iterator[Callable[[Step, Job], AbstractContextManager[How]]]:
    """Yield what says how to run each step of an experiment; what cannot be done on a cluster is done here."""
    from embcli.cluster.client import connect
    from embcli.cluster.connection import LoneError, place

    with connect(where, note) as client:

        @contextmanager
        def each(step: Step, job: Job) -> Iterator[How]:
            if not step.cluster:
                yield {}
                return
            with place(where, client, job) as there:

                def function(inputs: Any, params: Any, job: Job) -> Any:
                    try:
                        return _function(step, there)(inputs, params, job)
                    except LoneError as e:
                        from embcli.pipeline.execute import load

                        job.note(f"{e.reason}: done here")
                        return load(step)(inputs, params, job)

                yield {"function": function, "write": there.write}

        yield each


def _function(step: Step, there: Any) -> Callable[..., Any]:
    """Return the function that does a step on a cluster."""
    module, name = step.cluster.split(":")
    function = getattr(import_module(module), name)
    return lambda inputs, params, job: function(inputs, params, job, cluster=there)
