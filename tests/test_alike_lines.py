"""Logic stands once: no six lines of it in a row stand in two places (docs/decisions/0008-what-may-stand-twice.md)."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINES = 6
Line = tuple[int, str]


def _lines(path: Path) -> list[Line]:
    """Return the lines of a file that say something, with their numbers; brackets alone say nothing."""
    stripped = [(number, line.strip()) for number, line in enumerate(path.read_text().splitlines(), 1)]
    return [(number, line) for number, line in stripped if line.strip("()[]{},:") and line[0] != "#"]


@cache
def _logic(path: Path) -> frozenset[int]:
    """Return the numbers of the lines of statements inside of functions; declarations, signatures and texts are none."""
    numbers: set[int] = set()
    nodes = ast.walk(ast.parse(path.read_text()))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        for statement in function.body:
            if not isinstance(statement, ast.Import | ast.ImportFrom) and not _is_text(statement):
                numbers.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    for function in functions:  # those inside of others have signatures too
        numbers.difference_update(range(function.lineno, function.body[0].lineno))
    return frozenset(numbers)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _alike(files: list[Path]) -> Iterator[tuple[Path, int, Path, int]]:
    """Yield two places that begin with the same lines of logic."""
    places: defaultdict[tuple[str, ...], list[tuple[Path, tuple[int, ...]]]] = defaultdict(list)
    for path in files:
        lines = _lines(path)
        texts = [text for _, text in lines]
        for start in range(len(lines) - LINES + 1):
            numbers = tuple(number for number, _ in lines[start : start + LINES])
            places[tuple(texts[start : start + LINES])].append((path, numbers))
    for standing in places.values():
        if len(standing) > 1:
            logic = [(path, numbers) for path, numbers in standing if _logic(path).issuperset(numbers)]
            for path, numbers in logic[1:]:
                yield logic[0][0], logic[0][1][0], path, numbers[0]


def test_no_logic_stands_twice() -> None:
    files = sorted((ROOT / "pybernetes").rglob("*.py"))
    problems = [
        f"{first.relative_to(ROOT)}:{line} ~ {second.relative_to(ROOT)}:{other}"
        for first, line, second, other in _alike(files)
    ]
    assert problems == []


def test_the_check_tells_logic_from_declarations(tmp_path: Path) -> None:
    logic = "def {}(a):\n    b = a + 1\n    c = b * 2\n    d = c - 3\n    e = d + b\n    f = e + c\n    return f + {}\n"
    for name, last in (("one", "1"), ("two", "1"), ("three", "2")):
        (tmp_path / f"{name}.py").write_text(
            f"x = [\n1,\n2,\n3,\n4,\n5,\n6,\n7,\n]\n{logic.format(name, last)}"
        )
    alike = [
        (first.stem, line, second.stem, other)
        for first, line, second, other in _alike(sorted(tmp_path.glob("*.py")))
    ]
    assert alike == [("one", 11, "two", 11)]
