"""A checked expression as functions that call one another: each node of the tree becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pybernetes.api.cel import cost, loops
from pybernetes.api.cel.library.declare import Overload
from pybernetes.api.cel.library.lists import optional_field
from pybernetes.api.cel.loops import Frame, Items, Loop, Step
from pybernetes.api.cel.runtime import Failure, Optional, Struct, TypeValue
from pybernetes.api.cel.tree import (
    Call,
    Expr,
    Fold,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    Walk,
    qualified,
)
from pybernetes.api.cel.types import Type, is_dynamic
from pybernetes.api.cel.work import Exceeded


def build(expr: Expr, globals_: Mapping[str, Type]) -> Step:
    """Return the function that evaluates a checked expression; it raises Failure or Exceeded."""
    return _Builder(globals_).visit(expr)


class _Builder(Walk[Step]):
    def __init__(self, globals_: Mapping[str, Type]) -> None:
        self._globals = globals_
        self._locals: list[str] = []

    def _literal(self, expr: Literal) -> Step:
        value = expr.value
        return lambda frame: value

    def _ident(self, expr: Ident) -> Step:
        name = expr.name
        if name not in self._locals and name not in self._globals:
            named = TypeValue(name)
            return lambda frame: named

        def ident(frame: Frame) -> Any:
            frame.cost += 1
            try:
                return frame.variables[name]
            except KeyError:
                raise Failure(f"no such attribute(s): {name}") from None

        return ident

    # -- fields ------------------------------------------------------------------------------------------------

    def _select(self, expr: Select) -> Step:
        name = qualified(expr)
        if name and not expr.test and expr.operand.type is None:
            if name in self._globals:
                return self._ident(Ident(expr.at, name))
            named = TypeValue(name)
            return lambda frame: named
        operand, field = self.visit(expr.operand), expr.name
        key, convert = expr.operand.type.access.get(field, (field, None))
        if expr.test:
            return _present(operand, key)

        def select(frame: Frame) -> Any:
            value = operand(frame)
            frame.cost += 1
            if isinstance(value, dict):
                try:
                    return value[key]
                except KeyError:
                    raise Failure(f"no such key: {field}") from None
            if isinstance(value, Optional):
                return optional_field(value, key)
            raise Failure("no such overload")

        if convert is None:
            return select
        return lambda frame: convert(select(frame))

    # -- calls -------------------------------------------------------------------------------------------------

    def _call(self, expr: Call) -> Step:
        match expr.function:
            case "_&&_":
                return _logical(self.visit(expr.args[0]), self.visit(expr.args[1]), False)
            case "_||_":
                return _logical(self.visit(expr.args[0]), self.visit(expr.args[1]), True)
            case "_?_:_":
                return self._conditional(expr)
            case "_?._":
                return self._optional_select(expr)
        nodes = ([expr.target] if expr.target is not None else []) + expr.args
        steps = [self.visit(node) for node in nodes]
        if len(expr.overloads) == 1 and not any(is_dynamic(node.type) for node in nodes):
            return _direct(expr.overloads[0], steps)
        return _dispatched(expr.overloads, steps)

    def _conditional(self, expr: Call) -> Step:
        condition, then, otherwise = map(self.visit, expr.args)

        def choose(frame: Frame) -> Any:
            chosen = condition(frame)
            if chosen is True:
                return then(frame)
            if chosen is False:
                return otherwise(frame)
            raise Failure("no such overload")

        return choose

    def _optional_select(self, expr: Call) -> Step:
        operand, name = self.visit(expr.args[0]), expr.args[1]
        assert isinstance(name, Literal)
        type_ = expr.args[0].type
        if type_.kind == "optional":
            type_ = type_.params[0]
        key, convert = type_.access.get(name.value, (name.value, None))

        def select(frame: Frame) -> Any:
            frame.cost += 1
            field = optional_field(operand(frame), key)
            return Optional(convert(field.value)) if convert is not None and field.present else field

        return select

    # -- what is made ------------------------------------------------------------------------------------------

    def _list(self, expr: ListExpr) -> Step:
        steps = [self.visit(item) for item in expr.items]
        if not expr.optional:

            def make(frame: Frame) -> list[Any]:
                frame.cost += cost.LIST
                return [step(frame) for step in steps]

            return make
        optional = expr.optional

        def make_some(frame: Frame) -> list[Any]:
            frame.cost += cost.LIST
            items = []
            for index, step in enumerate(steps):
                value = step(frame)
                if index not in optional:
                    items.append(value)
                elif not isinstance(value, Optional):
                    raise Failure("no such overload")
                elif value.present:
                    items.append(value.value)
            return items

        return make_some

    def _map(self, expr: MapExpr) -> Step:
        entries = [(self.visit(key), self.visit(value), optional) for key, value, optional in expr.entries]

        def make(frame: Frame) -> dict[Any, Any]:
            frame.cost += cost.MAP
            mapping: dict[Any, Any] = {}
            for key_step, value_step, optional in entries:
                key, value = key_step(frame), value_step(frame)
                if optional:
                    if not value.present:
                        continue
                    value = value.value
                if not isinstance(key, str | int | bool):
                    raise Failure(f"unsupported key type: {key}")
                if key in mapping:
                    raise Failure(f"Failed with repeated key: {key}")
                mapping[key] = value
            return mapping

        return make

    def _struct(self, expr: StructExpr) -> Step:
        name = expr.name
        access = expr.type.access
        fields = [
            (access.get(field, (field, None))[0], self.visit(value), optional)
            for field, value, optional, _ in expr.fields
        ]

        def make(frame: Frame) -> Struct:
            frame.cost += cost.STRUCT
            values = {}
            for field, step, optional in fields:
                value = step(frame)
                if optional:
                    if not value.present:
                        continue
                    value = value.value
                values[field] = value
            return Struct(name, values)

        return make

    # -- loops -------------------------------------------------------------------------------------------------

    def _fold(self, expr: Fold) -> Step:
        over = self.visit(expr.over)
        names = [expr.accumulator, expr.variable, *([expr.second] if expr.second else [])]
        self._locals += names
        try:
            step = expr.step
            if isinstance(expr.condition, Call):
                assert isinstance(step, Call)
                absorbing = step.function == "_||_"
                return self._scoped(expr, over, loops.quantified(self.visit(step.args[1]), absorbing))
            if isinstance(expr.initial, ListExpr | MapExpr) and expr.condition.value is True:  # type: ignore[attr-defined]
                test = None
                if isinstance(step, Call) and step.function == "_?_:_":
                    test, step = self.visit(step.args[0]), step.args[1]
                assert isinstance(step, Call)
                if isinstance(expr.initial, ListExpr):
                    assert isinstance(step.args[1], ListExpr)
                    return self._scoped(expr, over, loops.collected(test, self.visit(step.args[1].items[0])))
                return self._scoped(
                    expr, over, loops.inserted(test, [self.visit(arg) for arg in step.args[1:]])
                )
            return self._scoped(expr, over, self._generic(expr))
        finally:
            del self._locals[-len(names) :]

    def _generic(self, expr: Fold) -> Loop:
        initial, condition = self.visit(expr.initial), self.visit(expr.condition)
        step, result, name = self.visit(expr.step), self.visit(expr.result), expr.accumulator

        def run(frame: Frame, items: Items) -> Any:
            variables = frame.variables
            variables[name] = initial(frame)
            for _ in items:
                if condition(frame) is not True:
                    break
                variables[name] = step(frame)
                if frame.cost > frame.limit:
                    raise Exceeded
            return result(frame)

        return run

    def _scoped(self, expr: Fold, over: Step, loop: Loop) -> Step:
        """Return a loop with variables of its own, after which those outside have their values again."""
        first, second, names = expr.variable, expr.second, (expr.accumulator, expr.variable, expr.second)
        is_bind = isinstance(expr.over, ListExpr) and not expr.over.items and expr.accumulator != "@result"

        def run(frame: Frame) -> Any:
            values = over(frame)
            variables = frame.variables
            held = [(name, variables[name]) for name in names if name in variables]
            try:
                return loop(frame, () if is_bind else loops.bindings(variables, values, first, second))
            finally:
                for name in names:
                    variables.pop(name, None)
                variables.update(held)

        return run


def _present(operand: Step, key: str) -> Step:
    def present(frame: Frame) -> bool:
        value = operand(frame)
        if isinstance(value, Optional):
            return value.present and isinstance(value.value, dict) and key in value.value
        if isinstance(value, dict):
            return key in value
        raise Failure("no such overload")

    return present


def _logical(left: Step, right: Step, absorbing: bool) -> Step:
    """Evaluate ``&&`` or ``||``: the side that decides does so even if the other fails."""

    def decide(frame: Frame) -> bool:
        failed: Failure | None = None
        try:
            left_value = left(frame)
        except Failure as error:
            failed = error
        else:
            if left_value is absorbing:
                return absorbing
            if type(left_value) is not bool:
                failed = Failure("no such overload")
        try:
            other = right(frame)
        except Failure as error:
            raise failed or error from None  # of two failures the first is reported
        if other is absorbing:
            return absorbing
        if failed is not None:
            raise failed
        if type(other) is not bool:
            raise Failure("no such overload")
        return other

    return decide


def _direct(overload: Overload, steps: list[Step]) -> Step:
    """Return a call of which it is known what it calls."""
    call, price = overload.call, overload.cost

    def run(frame: Frame) -> Any:
        args = tuple([step(frame) for step in steps])
        try:
            result = call(*args)
        except (TypeError, AttributeError, ValueError, OverflowError):
            raise Failure("no such overload") from None
        frame.cost += 1 if price is None else price(args, result)
        if frame.cost > frame.limit:
            raise Exceeded
        return result

    return run


def _dispatched(overloads: list[Overload], steps: list[Step]) -> Step:
    """Return a call that is decided by the values."""

    def run(frame: Frame) -> Any:
        args = tuple([step(frame) for step in steps])
        for overload in overloads:
            if overload.takes(args):
                break
        else:
            raise Failure("no such overload")
        try:
            result = overload.call(*args)
        except (TypeError, AttributeError, ValueError, OverflowError):
            raise Failure("no such overload") from None
        frame.cost += 1 if overload.cost is None else overload.cost(args, result)
        if frame.cost > frame.limit:
            raise Exceeded
        return result

    return run
