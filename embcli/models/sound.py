"""What a model's file says of itself, checked before it is used: its options against its arrays, how far it has come.

Arrays are checked where files are opened (artifacts/networks.py); a file that somebody altered by hand may still say
five heads where the columns are for four.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from embcli.artifacts.schema import Model
from embcli.errors import InputError, UsageError
from embcli.models.transformer import Config
from embcli.spec import AttendParams, recorded

#: options that the configuration is made of
SHAPE = tuple(name for name in Config.__dataclass_fields__ if name != "vocabulary")


def config_of(model: Model) -> Config:
    """Return the configuration that a model's options describe. Raises InputError if its arrays are of another one."""
    config = Config(len(model.words), **options_of(model, SHAPE))
    found = {name: array.shape for name, array in model.parameters.items()}
    paired = {"rope": config.dim // config.heads, "sinusoidal": config.dim}.get(config.position, 0)
    if config.dim % config.heads or paired % 2:
        raise damaged(model, f"{config.heads} heads and {config.dim} dimensions, positions {config.position}")
    for name, shape in config.shapes().items():
        if found.pop(name, None) != shape:
            raise damaged(model, f"its options and the shape of {name} do not fit together")
    if found:
        raise damaged(model, f"its options leave no room for {next(iter(found))}")
    return config


def options_of(model: Model, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the recorded options (of ``names``, or all) of a model. Raises InputError if one is nonsense."""
    given, found = model.options or model.meta["options"], {}
    for f, _ in recorded(AttendParams()):
        if names is not None and f.name not in names:
            continue
        if f.name not in given:
            raise damaged(model, f"its options do not say {f.name}")
        value = given[f.name]
        try:
            found[f.name] = f.convert(value)
        except UsageError:
            raise damaged(model, f"its options say {f.name} {value!r}") from None
        if (isinstance(value, str) and f.kind is not str) or (value is None and f.name in SHAPE):
            raise damaged(model, f"its options say {f.name} {value!r}")
    return found


def progress_of(model: Model) -> dict[str, Any]:
    """Return ``tokens``, ``targets``, ``cursor`` and ``heldout`` of a model's stats. Raises InputError for nonsense."""
    stats = model.stats
    held = stats.get("heldout", {"steps": [], "loss": []})
    cursor = stats.get("cursor")
    if not all(_count(stats.get(name)) for name in ("tokens", "targets")):
        raise damaged(model, "its stats do not say how many tokens it has read")
    if not (isinstance(cursor, list) and len(cursor) == 2 and all(map(_count, cursor))):
        raise damaged(model, "its stats do not say where the text goes on (cursor)")
    if not _measured(held):
        raise damaged(model, "its stats are wrong about held-out rows (heldout)")
    return {"tokens": stats["tokens"], "targets": stats["targets"], "cursor": tuple(cursor), "heldout": held}


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


def _measured(held: Any) -> bool:
    """Return whether held-out losses are what they should be: equally many steps and losses."""
    if not isinstance(held, dict):
        return False
    steps, losses = held.get("steps"), held.get("loss")
    if not (isinstance(steps, list) and isinstance(losses, list) and len(steps) == len(losses)):
        return False
    numbers = [*losses, *([held["longer"]] if "longer" in held else [])]
    return all(map(_count, steps)) and all(isinstance(v, float) and math.isfinite(v) for v in numbers)


def damaged(model: Model, what: str) -> InputError:
    """Return the error that names the file."""
    return InputError(f"{model.path or 'model'}: damaged: {what}; make the file again")
