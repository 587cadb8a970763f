"""Oracle: the table of layers in the README's development notes, checked by parsing every import statement."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "embcli"
STDLIB_ONLY = {"errors", "spec", "job", "__init__"}
METHODS = {"text", "counts", "models", "query", "formats"}
#: layer -> parts of embcli it may import
ALLOWED = {
    "errors": set(),
    "stop": set(),
    "job": {"errors", "stop"},
    "spec": {"spec", "errors"},
    "kernels": {"kernels"},
    "artifacts": {"artifacts", "errors", "spec", "job", "stop", "__version__"},
    **{layer: METHODS | {"kernels", "artifacts", "spec", "errors", "job"} for layer in METHODS},
    "report": {"report", "query", "artifacts", "errors", "spec", "job"},
    "cluster": METHODS | {"cluster", "kernels", "artifacts", "spec", "errors", "job", "__version__"},
    "pipeline": {
        "pipeline",
        "report",
        "query",
        "text",
        "counts",
        "models",
        "formats",
        "artifacts",
        "spec",
        "errors",
        "job",
        "stop",
        "__version__",
    },
}
#: layer -> outside packages it may import anywhere, and those only inside functions
OUTSIDE = {
    "kernels": ({"numpy", "numba"}, set()),
    "artifacts": ({"numpy"}, {"scipy"}),
    "query": ({"numpy"}, {"sklearn", "usearch"}),
    **dict.fromkeys(("text", "counts", "models"), ({"numpy", "scipy"}, {"zstandard", "regex", "fsspec"})),
    "formats": ({"numpy", "scipy"}, {"safetensors", "zstandard", "regex", "fsspec"}),
    "report": ({"numpy"}, {"rich", "matplotlib"}),
    "cluster": ({"numpy"}, {"distributed", "scipy"}),
    "pipeline": ({"numpy"}, {"yaml"}),
    "cli": ({"typer"}, {"rich", "numpy", "yaml"}),
}
OURS = {
    "numpy", "numba", "scipy", "typer", "rich", "yaml", "matplotlib", "sklearn", "zstandard", "regex", "click",
    "safetensors", "usearch", "dask", "distributed", "fsspec",
}  # fmt: skip


def imports(source: str) -> list[tuple[str, bool]]:
    """Return (dotted name, at the top of the file) for every import in a source text."""
    found: list[tuple[str, bool]] = []

    def walk(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inner = top and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.Import):
                found.extend((a.name, top) for a in child.names)
            elif isinstance(child, ast.ImportFrom):
                found.extend((f"{child.module}.{a.name}", top) for a in child.names)
            walk(child, inner)

    walk(ast.parse(source), True)
    return found


def faults(layer: str, source: str) -> list[str]:
    """Return the imports of a source text that its layer may not make."""
    bad = []
    anywhere, inside = OUTSIDE.get(layer, (set(), set()))
    for name, top in imports(source):
        head, _, rest = name.partition(".")
        if head == "embcli" and layer != "cli":
            part = rest.split(".")[0]
            if part not in ALLOWED.get(layer, set()):
                bad.append(name)
        elif (
            head == "embcli"
            and top
            and rest.split(".")[0] not in {"errors", "spec", "job", "stop", "cli", "report", "__version__"}
        ):
            bad.append(f"{name} at the top")
        elif head in OURS and head not in anywhere and (top or head not in inside):
            bad.append(name)
    return bad


def layer_of(path: Path) -> str:
    """Return the name of the layer that a file of the package belongs to."""
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_layer_imports_only_what_it_may(path: Path) -> None:
    if layer_of(path) in ("__init__", "__main__"):
        pytest.skip("entry points")
    assert faults(layer_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("spec", "import numpy"),
        ("kernels", "from embcli.errors import EmbcliError"),
        ("query", "def f():\n    import scipy.sparse"),
        ("query", "from embcli.cli import console"),
        ("cli", "import numpy"),
        ("cli", "from embcli.artifacts import store"),
        ("report", "import rich"),
        ("report", "import matplotlib"),
        ("query", "from sklearn.manifold import TSNE"),
        ("artifacts", "from embcli.models import svd"),
    ],
)
def test_a_forbidden_import_is_found(layer: str, source: str) -> None:
    assert faults(layer, source)


def test_only_one_kernel_file_decorates() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.name != "_jit.py":
            assert "njit" not in path.read_text(encoding="utf-8"), path


def test_every_open_names_its_encoding() -> None:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in (
                "open",
                "read_text",
            ):
                text = ast.unparse(node)
                mode = [ast.unparse(a) for a in node.args[1:2]] + [
                    ast.unparse(k.value) for k in node.keywords if k.arg == "mode"
                ]
                assert "encoding" in text or any("b" in m for m in mode) or text.startswith("os.open"), (
                    f"{path}: {text}"
                )
