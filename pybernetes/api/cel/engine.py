"""Compile and evaluate expressions: what the rest of the server uses of CEL."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from pybernetes.api.cel import types, work
from pybernetes.api.cel.cost import PER_CALL_LIMIT
from pybernetes.api.cel.runtime import Failure
from pybernetes.api.cel.syntax import Parser
from pybernetes.api.cel.tree import CelError, Expr, Ident, Invalid
from pybernetes.api.cel.types import Type
from pybernetes.api.cel.work import Exceeded
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.metrics.counts import Histograms
from pybernetes.lib.metrics.exposition import Exposition

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_COMPILING = Histograms(
    "apiserver_cel_compilation_duration_seconds", "CEL compilation time in seconds.", _BOUNDS
)
_EVALUATING = Histograms(
    "apiserver_cel_evaluation_duration_seconds", "CEL evaluation time in seconds.", _BOUNDS
)
_compiled, _evaluated = _COMPILING.values[()], _EVALUATING.values[()]
CANCELLED = "operation cancelled: actual cost limit exceeded"


class Cancelled(CelError):
    """The evaluation cost more than it may."""

    def __init__(self) -> None:
        super().__init__(CANCELLED)


class Environment:
    """The variables that expressions see, and the types of objects that they may make."""

    def __init__(
        self, variables: Mapping[str, Type | str], objects: Mapping[str, Type] | None = None
    ) -> None:
        self.variables = {
            name: type_ if isinstance(type_, Type) else types.named(type_)
            for name, type_ in variables.items()
        }
        self.objects = objects or {}

    def compile(self, source: str) -> Program:
        """Compile the expression; raise CelError with all errors if that fails."""
        # Only now: a server that starts need not wait for what most clusters never use.
        from pybernetes.api.cel.checker import Checker
        from pybernetes.api.cel.library import functions
        from pybernetes.api.cel.macros import MACROS

        began = time.monotonic()
        tree = Parser(source, MACROS).parse()
        checker = Checker(self.variables, functions(), self.objects)
        try:
            checker.check(tree)
        except RecursionError:
            raise CelError("expression recursion limit exceeded") from None
        if checker.issues:
            raise Invalid(source, checker.issues)
        program = Program(source, tree, self)
        _compiled.observe(time.monotonic() - began)
        return program


class Program:
    """A compiled expression."""

    def __init__(self, source: str, tree: Expr, environment: Environment) -> None:
        from pybernetes.api.cel import evaluate  # see compile()

        self.source, self.tree = source, tree
        self.type = tree.type
        self._step = evaluate.build(tree, environment.variables)
        self._frame = evaluate.Frame
        self.uses = {
            node.name for node in nodes(tree) if isinstance(node, Ident)
        } & environment.variables.keys()

    def run(self, data: Mapping[str, Any], limit: int = PER_CALL_LIMIT) -> tuple[Any, int]:
        """Return the value of the expression and what it cost; raise CelError if it has none."""
        began = time.monotonic()
        left = off_loop.steps_left()
        most = limit if left is None else min(limit, left)
        frame, steps = self._frame(dict(data), most), 0
        before = work.begin(most)
        try:
            value = self._step(frame)
        except Failure as error:
            raise CelError(str(error)) from None
        except Exceeded:
            steps = work.end(before, most)
            off_loop.spend(max(frame.cost, steps))
            raise Cancelled from None
        except RecursionError:
            raise CelError("expression recursion limit exceeded") from None
        finally:
            steps = steps or work.end(before, most)
        off_loop.spend(max(frame.cost, steps))
        _evaluated.observe(time.monotonic() - began)
        return value, frame.cost + work.hidden(steps, frame.cost)

    def evaluate(self, data: Mapping[str, Any], limit: int = PER_CALL_LIMIT) -> Any:
        """Return the value of the expression; raise CelError if it has none."""
        return self.run(data, limit)[0]


def render(text: Exposition) -> None:
    """Write how long expressions of this process took to compile and to evaluate."""
    _COMPILING.write(text)
    _EVALUATING.write(text)


def nodes(tree: Expr) -> Iterator[Expr]:
    """Return every node of a tree."""
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Expr):
            yield node
            stack += [getattr(node, name) for name in type(node).__slots__ if name != "type"]
        elif isinstance(node, list | tuple):
            stack += node


__all__ = ["CANCELLED", "Cancelled", "CelError", "Environment", "Program", "nodes"]
