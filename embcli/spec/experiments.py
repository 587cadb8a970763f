"""Commands that run other commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from embcli.spec.common import OnCluster, Step
from embcli.spec.options import Opt


@dataclass(frozen=True, kw_only=True)
class RunParams(OnCluster):
    """Options of ``run``."""

    dry_run: Annotated[
        bool, Opt("Only print the shell commands that would be run, marking what is up to date.", ("-n",))
    ] = False
    force: Annotated[bool, Opt("Build everything again, up to date or not.", ("-f",))] = False
    set: Annotated[
        tuple[str, ...], Opt("Set a variable of the YAML; a path is relative to this folder.", metavar="NAME=VALUE")
    ] = ()
    only: Annotated[
        tuple[str, ...], Opt("Build this step and what it needs, and report on it alone.", metavar="STEP")
    ] = ()
    jobs: Annotated[int, Opt("Independent steps to run at the same time.", ("-j",), min=1, max=256, metavar="N")] = 1
    threads: Annotated[
        int | None, Opt("Worker threads of each step; results do not depend on it.", min=1, max=1024, unset="all cores")
    ] = None
    progress: Annotated[bool | None, Opt("Show progress on stderr.", unset="on a terminal")] = None


ROWS = (
    Step(
        "run",
        RunParams,
        "embcli.pipeline.runner:run",
        ("yaml",),
        None,
        "Experiments",
        "Build an experiment written in YAML, step by step, and print its report.",
        "What is up to date, by the digests of inputs, options and version, is not built again. Paths are relative to "
        "the YAML file. What a report must say ('expect:') is compared with what it says; exit code 4 if it differs. "
        "See experiments/quickstart.yaml and, for experiments that run others, experiments/worked/all.yaml.",
        ("embcli run experiments/quickstart.yaml --dry-run", "embcli run experiments/quickstart.yaml --only vectors"),
        metavar="YAML",
    ),
)
