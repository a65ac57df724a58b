"""Walks the tree of a template over a value and writes what comes out."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.text import go_printf
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.output.go_template.functions import (
    ARGUMENTS,
    FUNCTIONS,
    CallError,
    NotFunction,
    WrongNumber,
    WrongType,
    truth,
)
from pybernetes.tools.kubectl.output.go_template.tree import Node, TemplateError

if TYPE_CHECKING:
    from typing import Any


_MAX_DEPTH = 100_000
_NONE = object()  # no value from the stage of a pipeline before


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Run:
    """One run of a template."""

    def __init__(self, defined: dict[str, list[Node]], strict: bool, write: Callable[[str], Any]) -> None:
        self._defined, self._strict, self._write = defined, strict, write
        self._variables: list[tuple[str, Any]] = []
        self._depth = 0
        self._name = "output"
        self._element = False  # the dot is an item of a list or an object, of which Go knows no type

    def start(self, nodes: list[Node], value: Any) -> None:
        """Run the template on a value."""
        self._variables = [("$", value)]
        self._walk(nodes, value)

    def _error(self, node: Node, message: str) -> TemplateError:
        place = node.place
        return TemplateError(
            f'{place.line}:{place.column}: executing "{self._name}" at <{place.source}>: {message}'
        )

    def _walk(self, nodes: list[Node], dot: Any) -> None:
        for node in nodes:
            match node.kind:
                case "text":
                    self._write(node.value)
                case "action":
                    value = self._pipe(node.value, dot)
                    if not node.value.value[0]:
                        self._write("<no value>" if value is None else go_printf.plain(value))
                case "if" | "with":
                    self._condition(node, dot)
                case "range":
                    self._range(node, dot)
                case "template":
                    self._template(node, dot)
                case "break":
                    raise _Break
                case "continue":
                    raise _Continue

    def _condition(self, node: Node, dot: Any) -> None:
        known = len(self._variables)
        block = node.value
        value = self._pipe(block.pipe, dot)
        if truth(value):
            element = self._element
            self._element = element and node.kind != "with"
            self._walk(block.body, value if node.kind == "with" else dot)
            self._element = element
        else:
            self._walk(block.otherwise, dot)
        del self._variables[known:]

    def _range(self, node: Node, dot: Any) -> None:
        known = len(self._variables)
        block = node.value
        names, assigns, _ = block.pipe.value
        value = self._pipe(block.pipe, dot, declare=False)
        pairs = self._pairs(block.pipe, value)
        inner = len(self._variables)
        element, self._element = self._element, isinstance(value, list | dict)
        try:
            for key, item in pairs:
                if names:
                    chosen = [(names[0], item)] if len(names) == 1 else [(names[0], key), (names[1], item)]
                    for name, element in chosen:
                        if assigns:
                            self._assign(name, element)
                        else:
                            self._variables.append((name, element))
                try:
                    self._walk(block.body, item)
                except _Continue:
                    pass
                del self._variables[inner:]
        except _Break:
            pass
        self._element = element
        if not pairs:
            self._walk(block.otherwise, dot)
        del self._variables[known:]

    def _pairs(self, node: Node, value: Any) -> list[tuple[Any, Any]]:
        last = node.value[2][-1].value[-1]
        if value is None:
            return []
        if isinstance(value, dict):
            return [(key, value[key]) for key in sorted(value)]
        if isinstance(value, list):
            return list(enumerate(value))
        if isinstance(value, int) and not isinstance(value, bool):
            if len(node.value[0]) > 1:
                raise self._error(last, f"can't use {value} to iterate over more than one variable")
            kind = go_printf.GoInt if isinstance(value, go_printf.GoInt) else int
            return [(kind(number), kind(number)) for number in range(value)]
        raise self._error(last, f"range can't iterate over {go_printf.plain(value)}")

    def _template(self, node: Node, dot: Any) -> None:
        name, pipe = node.value
        if name not in self._defined:
            raise self._error(node, f'template "{name}" not defined')
        if self._depth > 900:
            raise self._error(node, f"exceeded maximum template depth ({_MAX_DEPTH})")
        value = self._pipe(pipe, dot) if pipe is not None else None
        kept, self._variables = self._variables, [("$", value)]
        element, self._element = self._element, False
        name, self._name = self._name, name
        self._depth += 1
        self._walk(self._defined[self._name], value)
        self._depth -= 1
        self._variables, self._name, self._element = kept, name, element

    def _assign(self, name: str, value: Any) -> None:
        for place in range(len(self._variables) - 1, -1, -1):
            if self._variables[place][0] == name:
                self._variables[place] = (name, value)
                return

    def _pipe(self, node: Node, dot: Any, *, declare: bool = True) -> Any:
        names, assigns, commands = node.value
        value: Any = _NONE
        for command in commands:
            value = self._command(command, dot, value)
        if names and declare:
            for name in names:
                if assigns:
                    self._assign(name, value)
                else:
                    self._variables.append((name, value))
        return value

    def _command(self, node: Node, dot: Any, final: Any) -> Any:
        operands = node.value
        first = operands[0]
        if first.kind == "name":
            return self._call(first, operands[1:], dot, final, node)
        if len(operands) > 1 or final is not _NONE:
            if first.kind in ("field", "chain", "variable"):
                named = first.value if first.kind == "field" else first.value[1]
                shown = named[-1] if named else first.place.source
                raise self._error(first, f"{shown} is not a method but has arguments")
            raise self._error(first, f"can't give argument to non-function {first.place.source}")
        if first.kind == "nil":
            raise self._error(first, "nil is not a command")
        return self._value(first, dot)

    def _value(self, node: Node, dot: Any) -> Any:
        match node.kind:
            case "dot":
                return dot
            case "nil":
                return None
            case "literal":
                return node.value
            case "field":
                return self._fields(node, dot, node.value)
            case "variable":
                name, fields = node.value
                current = next(value for known, value in reversed(self._variables) if known == name)
                return self._fields(node, current, fields)
            case "chain":
                inner, fields = node.value
                return self._fields(node, self._value(inner, dot), fields)
            case "pipe":
                return self._pipe(node, dot)
            case "name":
                return self._call(node, [], dot, _NONE)
        raise self._error(node, f"can't evaluate {node.kind}")

    def _fields(self, node: Node, value: Any, names: list[str]) -> Any:
        for place, name in enumerate(names):
            if isinstance(value, dict):
                if name not in value and self._strict:
                    raise self._error(node, f'map has no entry for key "{name}"')
                value = value.get(name)
            elif value is None:
                if self._strict:
                    raise self._error(node, f'nil data; no entry for key "{name}"')
                return None
            else:
                known = not place and (node.kind != "field" or not self._element)
                kind = go_printf.type_name(value) if known else "interface {}"
                raise self._error(node, f"can't evaluate field {name} in type {kind}")
        return value

    def _call(
        self, node: Node, operands: list[Node], dot: Any, final: Any, command: Node | None = None
    ) -> Any:
        name = node.value
        if name in ("and", "or"):
            return self._logic(node, operands, dot, final)
        given = len(operands) + (final is not _NONE)
        wanted = ARGUMENTS.get(name, given)
        if given != wanted:
            raise self._error(node, f"wrong number of args for {name}: want {wanted} got {given}")
        if name == "base64decode" and operands and operands[0].kind in ("literal", "nil"):
            self._constant(operands[0])
        values = [self._value(operand, dot) for operand in operands]
        if final is not _NONE:
            values.append(final)
        try:
            return FUNCTIONS[name](*values)
        except WrongNumber as error:
            raise self._error(node, str(error)) from None
        except NotFunction as error:
            what = operands[0].place.source if operands else "<pipeline>"
            raise self._error(command or node, f"error calling call: non-function {what} {error}") from None
        except WrongType as error:
            raise self._error(operands[0] if operands else node, str(error)) from None
        except CallError as error:
            raise self._error(command or node, f"error calling {name}: {error}") from None

    def _constant(self, node: Node) -> None:
        """Refuse a constant that is no text, where a text is needed."""
        if node.kind == "nil":
            raise self._error(node, "cannot assign nil to string")
        if not isinstance(node.value, str):
            raise self._error(node, f"expected string; found {node.place.source}")

    def _logic(self, node: Node, operands: list[Node], dot: Any, final: Any) -> Any:
        """Evaluate ``and`` and ``or`` up to the value that decides."""
        if not operands and final is _NONE:
            raise self._error(node, f"wrong number of args for {node.value}: want at least 1 got 0")
        value: Any = None
        for operand in operands:
            value = self._value(operand, dot)
            if truth(value) == (node.value == "or"):
                return value
        return value if final is _NONE else final
