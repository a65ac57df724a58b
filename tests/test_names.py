"""Names say what a thing is: variables, arguments and what functions return are named after what they hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VAGUE = {"each", "found", "thing", "it"}
LETTERS = {"x", "k", "v"}  # whose place is a formula, but no loop


def vague(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines where something gets a name that could be anything's, with the name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name) and name.id in LETTERS:
                    yield name.lineno, name.id
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node.arg in VAGUE:
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.lower().strip("_") in VAGUE:
                yield node.lineno, node.name


@pytest.mark.parametrize("folder", ["pybernetes", "bench", "fuzz", "tests", "examples"])
def test_names(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    problems = [
        f"{path.relative_to(ROOT)}:{line} {name}" for path in files for line, name in vague(path.read_text())
    ]
    assert problems == []


def test_what_is_vague() -> None:
    source = """
for each in pods: pass
for pod in pods: pass
labels = {k: v for k, v in pairs}
found = find(pods)
def _each(x, thing): pass
class Found: pass
"""
    assert sorted(vague(source)) == [
        (2, "each"),
        (4, "k"),
        (4, "v"),
        (5, "found"),
        (6, "_each"),
        (6, "thing"),
        (7, "Found"),
    ]
