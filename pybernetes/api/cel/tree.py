"""Expressions as trees, and errors about places in their source.

Positions are offsets in the source; what the parser and the checker complain about points there, as upstream's does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pybernetes.api.cel.types import Type


class CelError(ValueError):
    """An expression that cannot be compiled, or that failed."""


@dataclass(slots=True)
class Issue:
    """A complaint about a place in the source."""

    at: int
    text: str


class Invalid(CelError):
    """An expression that cannot be compiled, with all errors as text."""

    def __init__(self, source: str, issues: list[Issue]) -> None:
        super().__init__("\n".join(_shown(source, issue) for issue in issues))
        self.issues = issues


def _shown(source: str, issue: Issue) -> str:
    before = source[: issue.at]
    line = before.count("\n") + 1
    column = issue.at - (before.rfind("\n") + 1)
    text = source.split("\n")[line - 1].replace("\t", " ")
    return f"ERROR: <input>:{line}:{column + 1}: {issue.text}\n | {text}\n | {'.' * column}^"


@dataclass(slots=True, eq=False)
class Expr:
    """A node of the tree. The checker fills in its type, and for calls the overloads that fit."""

    at: int
    type: Type = field(default=None, init=False)  # type: ignore[assignment]


@dataclass(slots=True, eq=False)
class Literal(Expr):
    value: Any


@dataclass(slots=True, eq=False)
class Ident(Expr):
    name: str


@dataclass(slots=True, eq=False)
class Select(Expr):
    """A field; with ``test``, whether it is there."""

    operand: Expr
    name: str
    test: bool = False


@dataclass(slots=True, eq=False)
class Call(Expr):
    function: str
    target: Expr | None
    args: list[Expr]
    overloads: list[Any] = field(default_factory=list, init=False)


@dataclass(slots=True, eq=False)
class ListExpr(Expr):
    items: list[Expr]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class MapExpr(Expr):
    entries: list[tuple[Expr, Expr, bool]]


@dataclass(slots=True, eq=False)
class StructExpr(Expr):
    name: str
    fields: list[tuple[str, Expr, bool, int]]


@dataclass(slots=True, eq=False)
class Fold(Expr):
    """A loop over a range: what macros such as ``all`` and ``map`` stand for."""

    over: Expr
    variable: str
    second: str
    accumulator: str
    initial: Expr
    condition: Expr
    step: Expr
    result: Expr


R = TypeVar("R")


class Walk(ABC, Generic[R]):
    """What goes over a tree: a method for each sort of node."""

    def visit(self, expr: Expr) -> R:
        """Return what is to be said of a node."""
        return self._method(expr)(expr)

    def _method(self, expr: Expr) -> Callable[[Any], R]:
        # An override of visit calls this, so that a level of the tree takes no more frames than it must.
        match expr:
            case Literal():
                return self._literal
            case Ident():
                return self._ident
            case Select():
                return self._select
            case Call():
                return self._call
            case ListExpr():
                return self._list
            case MapExpr():
                return self._map
            case StructExpr():
                return self._struct
            case Fold():
                return self._fold
        raise AssertionError(expr)

    @abstractmethod
    def _literal(self, expr: Literal) -> R: ...

    @abstractmethod
    def _ident(self, expr: Ident) -> R: ...

    @abstractmethod
    def _select(self, expr: Select) -> R: ...

    @abstractmethod
    def _call(self, expr: Call) -> R: ...

    @abstractmethod
    def _list(self, expr: ListExpr) -> R: ...

    @abstractmethod
    def _map(self, expr: MapExpr) -> R: ...

    @abstractmethod
    def _struct(self, expr: StructExpr) -> R: ...

    @abstractmethod
    def _fold(self, expr: Fold) -> R: ...


def qualified(expr: Expr) -> str:
    """Return the dotted name that a chain of fields spells, or nothing."""
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test:
        start = qualified(expr.operand)
        return f"{start}.{expr.name}" if start else ""
    return ""
