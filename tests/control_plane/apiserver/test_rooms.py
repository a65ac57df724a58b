"""The rooms of the API server: which may import which, and who writes to the store."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.control_plane import apiserver

ROOT = Path(apiserver.__file__).parent
PREFIX = f"{apiserver.__name__}."
# From top to bottom, as the package's docstring has them.
LAYERS = [
    [name.strip() for name in line.split(",")]
    for line in (apiserver.__doc__ or "").splitlines()
    if line.startswith("    ")
]
LEVEL = {name: -number for number, names in enumerate(LAYERS) for name in names}
FILES = sorted(ROOT.rglob("*.py"))
WRITES = ("create", "update", "delete")


def imported(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield the modules of the API server that a file imports, and whether only for the sake of their types."""
    for_types = {
        id(node)
        for condition in ast.walk(tree)
        if isinstance(condition, ast.If) and ast.unparse(condition.test) == "TYPE_CHECKING"
        for node in ast.walk(condition)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith(PREFIX):
                yield name.removeprefix(PREFIX), id(node) in for_types


def test_every_room_has_its_layer() -> None:
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    modules = {path.stem for path in ROOT.glob("*.py") if path.stem != "__init__"}
    assert rooms | modules == set(LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    is_hub = len(path.relative_to(ROOT).parts) == 1
    for name, for_types in imported(ast.parse(path.read_text())):
        room = name.partition(".")[0]
        if room == own or (is_hub and for_types):
            continue
        beside = is_hub and LEVEL[room] == LEVEL[own]
        assert LEVEL[room] < LEVEL[own] or beside, f"{path.relative_to(ROOT)} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_modify_writes_to_the_store(path: Path) -> None:
    if path == ROOT / "storage" / "modify.py":
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in WRITES:
            owner = ast.unparse(node.value)
            assert not owner.endswith("store"), f"{path.relative_to(ROOT)}:{node.lineno}: {owner}.{node.attr}"
