"""Names say what a thing is: the variable of a loop is named after what it holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VAGUE = {"each", "found", "thing", "it", "x", "k", "v"}


def vague(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of loops whose variable could hold anything, with its name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name) and name.id in VAGUE:
                    yield name.lineno, name.id


@pytest.mark.parametrize("folder", ["pybernetes", "bench", "fuzz"])
def test_variables_of_loops(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    problems = [
        f"{path.relative_to(ROOT)}:{line} {name}" for path in files for line, name in vague(path.read_text())
    ]
    assert problems == []


def test_what_is_vague() -> None:
    source = "for each in pods: pass\nfor pod in pods: pass\nlabels = {k: v for k, v in pairs}\n"
    assert sorted(vague(source)) == [(1, "each"), (3, "k"), (3, "v")]
