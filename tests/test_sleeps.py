"""No test sleeps: it waits for what it wants to see (``tests/support.py``), or moves a clock (``pybernetes/lib/clock.py``)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# The functions that may sleep, and why.
SLEEPERS = {
    ("support.py", "until"): "between two looks at what other processes do",
    ("support.py", "eventually"): "between two looks at what happens on the loop",
    ("support.py", "block_the_loop"): "to stand in the way is what it is for",
    (
        "attacks/_target.py",
        "until",
    ): "between two looks; attacks run against checkouts without the rest of these files",
}
MODULES = ("time", "asyncio")
# In the text of a program that a test starts; asyncio.sleep(0) is a turn of the loop.
_TEXT = re.compile(r"\b(?:time|asyncio)\.sleep\((?!0\))")


def _sleeps(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield where a sleep is named, by the innermost function around it and the line; turns of the loop are none."""
    modules: dict[str, str] = {}
    functions: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(
                {name.asname or name.name: name.name for name in node.names if name.name in MODULES}
            )
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            functions.update(
                {name.asname or name.name: node.module for name in node.names if name.name == "sleep"}
            )

    def module(node: ast.AST) -> str | None:
        """Return whose sleep it is that a node names, if it names one."""
        if isinstance(node, ast.Attribute) and node.attr == "sleep" and isinstance(node.value, ast.Name):
            return modules.get(node.value.id)
        return (
            functions.get(node.id) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else None
        )

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, int]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        if isinstance(node, ast.Call) and module(node.func) == "asyncio":
            if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0:
                return
        if module(node) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and _TEXT.search(node.value)
        ):
            yield function, node.lineno  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            yield from walk(child, function)

    yield from walk(tree, "")


def test_no_test_sleeps() -> None:
    problems, used = [], set()
    for path in sorted(TESTS.rglob("*.py")):
        name = str(path.relative_to(TESTS))
        if path == Path(__file__):
            continue
        for function, line in _sleeps(ast.parse(path.read_text())):
            used.add((name, function))
            if (name, function) not in SLEEPERS:
                problems.append(f"{name}:{line}")
    assert problems == []
    assert used == SLEEPERS.keys(), "who does not sleep any more needs no place in the list"


@pytest.mark.parametrize(
    ("source", "sleeps"),
    [
        ("import time\ndef f():\n    time.sleep(1)", [("f", 3)]),
        ("import time as t\nt.sleep(0.1)", [("", 2)]),
        ("from time import sleep as rest\nrest(1)", [("", 2)]),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(x)", [("f", 3)]),
        ("import asyncio\nasync def f():\n    await asyncio.sleep(0)", []),
        ("from asyncio import sleep\nasync def f():\n    await sleep(0)\n    await sleep(2)", [("f", 4)]),
        ("import asyncio\nwaiting = asyncio.sleep", [("", 2)]),
        ("program = 'import time; time.sleep(60)'", [("", 1)]),
        ("clock.sleep(10)", []),
        ("import time\nclass C:\n    def sleep(self): pass", []),
    ],
)
def test_what_is_found(source: str, sleeps: list[tuple[str, int]]) -> None:
    assert list(_sleeps(ast.parse(source))) == sleeps
