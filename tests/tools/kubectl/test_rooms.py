"""Which room of kubectl may import which: commands are on top, and nobody imports them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PREFIX = "pybernetes.tools.kubectl"
KUBECTL = Path(__file__).resolve().parents[3] / "pybernetes" / "tools" / "kubectl"
_OF_ALL = ("TYPE_CHECKING", "import_named")
HUBS = {"addresses", "context", "errors", "files", "log"}
ALLOWED: dict[str, set[str]] = {
    "kubeconfig": set(),
    "connection": {"kubeconfig"},
    "kustomize": {"output", "resources"},
    "resources": {"connection", "kustomize"},
    "output": {"resources"},
    "apply": {"output", "resources"},
    "describe": {"output", "resources"},
    "command_line": {"resources"},
}


def imported_rooms(node: ast.AST) -> Iterator[str]:
    """Yield the rooms that are imported below a node, those aside that only types need."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        if node.module.startswith(f"{PREFIX}."):
            yield node.module.split(".")[3]
        elif node.module == PREFIX:
            yield from (alias.name for alias in node.names if alias.name not in _OF_ALL)
    for child in ast.iter_child_nodes(node):
        yield from imported_rooms(child)


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_a_room_imports_only_what_is_below_it(room: str) -> None:
    allowed = ALLOWED[room] | HUBS | {room}
    for path in sorted((KUBECTL / room).rglob("*.py")):
        assert set(imported_rooms(ast.parse(path.read_text()))) <= allowed, path


def test_every_room_has_a_rule() -> None:
    rooms = {path.name for path in KUBECTL.iterdir() if (path / "__init__.py").exists()}
    assert rooms == {*ALLOWED, "commands"}
