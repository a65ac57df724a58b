"""Macros: calls that the parser replaces by loops and tests."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.cel.syntax import Expand, Parser
from pybernetes.api.cel.tree import Call, Expr, Fold, Ident, ListExpr, Literal, MapExpr, Select

ACCUMULATOR = "@result"
_UNUSED = "#unused"


def _variable(parser: Parser, expr: Expr) -> str:
    if not isinstance(expr, Ident):
        parser.complain(expr.at, "argument must be a simple name")
        return "@error"
    if expr.name == ACCUMULATOR or expr.name == "__result__":
        parser.complain(expr.at, f"iteration variable overwrites accumulator variable: {expr.name}")
    return expr.name


def _call(at: int, function: str, *args: Expr) -> Call:
    return Call(at, function, None, list(args))


def _accumulator(at: int) -> Ident:
    return Ident(at, ACCUMULATOR)


def _fold(
    at: int, target: Expr, names: tuple[str, str], initial: Expr, condition: Expr, step: Expr, result: Expr
) -> Fold:
    return Fold(at, target, names[0], names[1], ACCUMULATOR, initial, condition, step, result)


def _has(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
    if len(args) != 1:
        return None
    if isinstance(args[0], Select) and not args[0].test:
        return Select(at, args[0].operand, args[0].name, True)
    parser.complain(args[0].at, "invalid argument to has() macro")
    return Literal(at, False)


def _names(parser: Parser, args: list[Expr], most: int) -> tuple[tuple[str, str], list[Expr]] | None:
    """Return the variables of a loop, one or two, and what comes after them."""
    if len(args) == most + 1:
        first, second = _variable(parser, args[0]), _variable(parser, args[1])
        if first == second:
            parser.complain(args[1].at, f"duplicate variable name: {first}")
        return (first, second), args[2:]
    if len(args) == most:
        return (_variable(parser, args[0]), ""), args[1:]
    return None


def _with_test(fold: Callable[[int, Expr, tuple[str, str], Expr], Expr]) -> Expand:
    """Make a macro of a fold over the names of a loop and the one expression that follows them."""

    def macro(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
        loop_parts = _names(parser, args, 2)
        if loop_parts is None or target is None:
            return None
        names, (test,) = loop_parts
        return fold(at, target, names, test)

    return macro


@_with_test
def _all(at: int, target: Expr, names: tuple[str, str], test: Expr) -> Expr:
    condition = _call(at, "@not_strictly_false", _accumulator(at))
    step = _call(at, "_&&_", _accumulator(at), test)
    return _fold(at, target, names, Literal(at, True), condition, step, _accumulator(at))


@_with_test
def _exists(at: int, target: Expr, names: tuple[str, str], test: Expr) -> Expr:
    condition = _call(at, "@not_strictly_false", _call(at, "!_", _accumulator(at)))
    step = _call(at, "_||_", _accumulator(at), test)
    return _fold(at, target, names, Literal(at, False), condition, step, _accumulator(at))


@_with_test
def _exists_one(at: int, target: Expr, names: tuple[str, str], test: Expr) -> Expr:
    more = _call(at, "_+_", _accumulator(at), Literal(at, 1))
    step = _call(at, "_?_:_", test, more, _accumulator(at))
    result = _call(at, "_==_", _accumulator(at), Literal(at, 1))
    return _fold(at, target, names, Literal(at, 0), Literal(at, True), step, result)


def _collected(at: int, target: Expr, names: tuple[str, str], test: Expr | None, item: Expr) -> Expr:
    step: Expr = _call(at, "_+_", _accumulator(at), ListExpr(at, [item]))
    if test is not None:
        step = _call(at, "_?_:_", test, step, _accumulator(at))
    return _fold(at, target, names, ListExpr(at, []), Literal(at, True), step, _accumulator(at))


def _map(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
    if target is None or len(args) not in (2, 3):
        return None
    name = _variable(parser, args[0])
    return _collected(at, target, (name, ""), args[1] if len(args) == 3 else None, args[-1])


def _filter(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
    if target is None or len(args) != 2:
        return None
    name = _variable(parser, args[0])
    return _collected(at, target, (name, ""), args[1], Ident(args[0].at, name))


def _transform_list(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
    if target is None or len(args) not in (3, 4):
        return None
    names = _variable(parser, args[0]), _variable(parser, args[1])
    return _collected(at, target, names, args[2] if len(args) == 4 else None, args[-1])


def _transform_map(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
    if target is None or len(args) not in (3, 4):
        return None
    names = _variable(parser, args[0]), _variable(parser, args[1])
    return _entries(
        at, target, names, args, _call(at, "cel.@mapInsert", _accumulator(at), Ident(at, names[0]), args[-1])
    )


def _transform_entry(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
    if target is None or len(args) not in (3, 4):
        return None
    names = _variable(parser, args[0]), _variable(parser, args[1])
    return _entries(at, target, names, args, _call(at, "cel.@mapInsert", _accumulator(at), args[-1]))


def _entries(at: int, target: Expr, names: tuple[str, str], args: list[Expr], step: Expr) -> Expr:
    if len(args) == 4:
        step = _call(at, "_?_:_", args[2], step, _accumulator(at))
    return _fold(at, target, names, MapExpr(at, []), Literal(at, True), step, _accumulator(at))


def _bound(at: int, name: str, value: Expr, result: Expr) -> Fold:
    """Bind a name to a value: a loop over nothing."""
    nothing = ListExpr(at, [])
    return Fold(at, nothing, _UNUSED, "", name, value, Literal(at, False), Ident(at, name), result)


def _bind(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
    if not isinstance(target, Ident) or target.name != "cel" or len(args) != 3:
        return None
    return _bound(at, _variable(parser, args[0]), args[1], args[2])


def _optional_map(flat: bool) -> Expand:
    def expand(parser: Parser, target: Expr | None, args: list[Expr], at: int) -> Expr | None:
        if target is None or len(args) != 2:
            return None
        name = _variable(parser, args[0])
        value = Call(at, "value", target, [])
        mapped: Expr = _bound(at, name, value, args[1])
        if not flat:
            mapped = _call(at, "optional.of", mapped)
        return _call(at, "_?_:_", Call(at, "hasValue", target, []), mapped, _call(at, "optional.none"))

    return expand


# Name, and whether it is called on something.
MACROS: dict[tuple[str, bool], Expand] = {
    ("has", False): _has,
    ("all", True): _all,
    ("exists", True): _exists,
    ("exists_one", True): _exists_one,
    ("existsOne", True): _exists_one,
    ("map", True): _map,
    ("filter", True): _filter,
    ("transformList", True): _transform_list,
    ("transformMap", True): _transform_map,
    ("transformMapEntry", True): _transform_entry,
    ("bind", True): _bind,
    ("optMap", True): _optional_map(False),
    ("optFlatMap", True): _optional_map(True),
}
