"""Options that every command, or every step that writes an artifact, takes; and what a step is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from embcli.errors import UsageError
from embcli.spec.options import Opt, Params

_RUN = "Run"


@dataclass(frozen=True, kw_only=True)
class Common(Params):
    """Options that every command takes."""

    json: Annotated[bool, Opt("Print JSON on stdout.", recorded=False, panel=_RUN)] = False
    quiet: Annotated[bool, Opt("Say nothing but errors.", ("-q",), recorded=False, panel=_RUN)] = False
    verbose: Annotated[bool, Opt("Say more.", ("-v",), recorded=False, panel=_RUN)] = False


@dataclass(frozen=True, kw_only=True)
class StepCommon(Params):
    """Options that every step takes which writes an artifact."""

    out: Annotated[
        str | None,
        Opt("File to write; - is stdout.", ("-o",), metavar="FILE", recorded=False, unset="required", panel=_RUN),
    ] = None
    seed: Annotated[int, Opt("Seed of everything random.", min=0, max=2**63 - 1, panel=_RUN)] = 0
    threads: Annotated[
        int | None,
        Opt(
            "Worker threads; results do not depend on it.",
            min=1,
            max=1024,
            recorded=False,
            unset="all cores",
            panel=_RUN,
        ),
    ] = None
    progress: Annotated[
        bool | None, Opt("Show progress on stderr.", recorded=False, unset="on a terminal", panel=_RUN)
    ] = None


@dataclass(frozen=True, kw_only=True)
class OnCluster(Params):
    """Options of the steps that can work on a Dask cluster, and of what runs them."""

    cluster: Annotated[
        str | None,
        Opt(
            "Work on a Dask cluster: the ADDRESS of its scheduler, or local:N for N processes here.",
            metavar="ADDRESS|local:N",
            recorded=False,
            unset="this process",
            panel=_RUN,
        ),
    ] = None

    def check(self) -> None:
        """Refuse what is neither an address nor a number of processes."""
        where = self.cluster
        if where is not None and not re.fullmatch(r"local:[1-9][0-9]{0,2}|(?!local:)[^\s]*[^\s:]+:[0-9]+/?", where):
            raise UsageError(
                f"--cluster: expected the address of a scheduler (tcp://host:8786) or local:N, found {where!r}"
            )


@dataclass(frozen=True)
class Step:
    """A command.

    ``run`` is "module:function", so that this table can be read without importing a method. ``reads`` are the kinds
    of its inputs ("text" is a corpus); ``many`` says whether several may be given; ``writes`` is the kind of its
    artifact, None for a command that only prints. ``cluster`` is the function that does the same on a Dask cluster.
    """

    name: str
    params: type[Params]
    run: str
    reads: tuple[str, ...]
    writes: str | None
    panel: str
    summary: str
    details: str
    examples: tuple[str, ...]
    many: bool = False
    metavar: str = "INPUT"
    input_optional: bool = False
    cluster: str = ""
