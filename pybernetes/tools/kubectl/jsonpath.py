"""JSONPath templates as client-go understands them: text with {expressions}, range and end among them."""

from __future__ import annotations

import operator
import re
from typing import Any, NamedTuple

from pybernetes.api.text import go_printf
from pybernetes.tools.kubectl.errors import CommandError

_COMPARISONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le,
                ">=": operator.ge}  # fmt: skip


class Node(NamedTuple):
    """A part of a template: its kind, its value, and the parts in it."""

    kind: str
    value: Any = None
    parts: tuple[Any, ...] = ()


class Missing(CommandError):
    """A field that the object does not have, where this matters."""


_NAME_END = set(" \t\r\n[]{}(),|.=!<>&")
_FILTER = re.compile(r"([^!<>=]+)([!<>=]+)(.+?)$", re.DOTALL)
_SLICE = re.compile(r"(-?\d*)(:(-?\d*))?(:(-?\d*))?$")


def parse(text: str) -> tuple[Node, ...]:
    """Return the parts of a template; CommandError in client-go's words if it is none."""
    nodes: list[Node] = []
    place = 0
    while place < len(text):
        start = text.find("{", place)
        if start < 0:
            nodes.append(Node("text", text[place:]))
            break
        if start > place:
            nodes.append(Node("text", text[place:start]))
        action, place = _Action(text, start + 1).parse()
        nodes += action
    return _blocks(nodes)


def _blocks(nodes: list[Node]) -> tuple[Node, ...]:
    """Put what stands between range and end into the range."""
    stack: list[tuple[Node | None, list[Node]]] = [(None, [])]
    for node in nodes:
        if node.kind == "range":
            stack.append((node, []))
        elif node.kind == "end":
            if len(stack) == 1:
                raise CommandError("not in range, nothing to end")
            opened, inner = stack.pop()
            assert opened is not None
            stack[-1][1].append(Node("range", opened.value, tuple(inner)))
        else:
            stack[-1][1].append(node)
    while len(stack) > 1:
        opened, inner = stack.pop()
        assert opened is not None
        stack[-1][1].append(Node("range", opened.value, tuple(inner)))
    return tuple(stack[0][1])


class _Action:
    """The parser of what stands between braces."""

    def __init__(self, text: str, place: int) -> None:
        self.text, self.place = text, place

    def parse(self) -> tuple[list[Node], int]:
        path: list[Node] = []
        found: list[Node] = []
        ranged = False
        while True:
            if self.place >= len(self.text):
                raise CommandError("unclosed action")
            char = self.text[self.place]
            if char == "}":
                self.place += 1
                break
            if char in " \t\r\n":
                self.place += 1
                if path:
                    found.append(Node("path", tuple(path)))
                    path = []
            elif char in "'\"":
                path.append(Node("text", self._quoted()))
            elif char == "[":
                path.append(self._array())
            elif char == ".":
                path += self._field()
            elif char in "@$":
                self.place += 1
                path.append(Node("root" if char == "$" else "current"))
            elif char in "+-" or char.isdigit():
                path.append(self._number())
            else:
                word = self._word()
                if word == "range":
                    ranged = True
                elif word == "end":
                    found.append(Node("end"))
                elif word in ("true", "false"):
                    path.append(Node("literal", word == "true"))
                else:
                    raise CommandError(f"unrecognized identifier {word}")
        if path:
            found.append(Node("path", tuple(path)))
        if ranged:
            if not found:
                raise CommandError("unterminated range")
            return [Node("range", found[0])], self.place
        return found, self.place

    def _quoted(self) -> str:
        mark = self.text[self.place]
        end = self.place + 1
        while end < len(self.text) and self.text[end] != mark:
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise CommandError("unterminated quoted string")
        raw = self.text[self.place + 1 : end]
        self.place = end + 1
        return unquote(raw)

    def _word(self) -> str:
        end = self.place
        while end < len(self.text) and self.text[end] not in _NAME_END:
            end += 1
        if end == self.place:
            raise CommandError(
                f"unrecognized character in action: U+{ord(self.text[end]):04X} {self.text[end]!r}"
            )
        word, self.place = self.text[self.place : end], end
        return word

    def _number(self) -> Node:
        match = re.compile(r"[-+]?\d*(\.\d+)?").match(self.text, self.place)
        assert match is not None
        self.place = match.end()
        try:
            return Node("literal", float(match[0]) if "." in match[0] else int(match[0]))
        except ValueError:
            raise CommandError(f"cannot parse number {match[0]}") from None

    def _field(self) -> list[Node]:
        self.place += 1
        found = []
        if self.text[self.place : self.place + 1] == ".":
            self.place += 1
            found.append(Node("recursive"))
            if self.text[self.place : self.place + 1] == "[":
                return found
        name = ""
        while self.place < len(self.text) and self.text[self.place] not in _NAME_END:
            if self.text[self.place] == "\\" and self.place + 1 < len(self.text):
                self.place += 1
            name += self.text[self.place]
            self.place += 1
        if not name:
            return found
        return [*found, Node("wildcard") if name == "*" else Node("field", name)]

    def _array(self) -> Node:
        end = self._close()
        inner = self.text[self.place + 1 : end].strip()
        self.place = end + 1
        if inner.startswith("?(") and inner.endswith(")"):
            return _filter(inner[2:-1])
        if inner == "*":
            return Node("wildcard")
        parts = split_union(inner)
        if len(parts) > 1:
            return Node("union", None, tuple(_index(part.strip()) for part in parts))
        return _index(inner)

    def _close(self) -> int:
        depth, end, mark = 0, self.place, ""
        while end < len(self.text):
            char = self.text[end]
            if mark:
                if char == "\\":
                    end += 1
                elif char == mark:
                    mark = ""
            elif char in "'\"":
                mark = char
            elif char == "[":
                depth += 1
            elif char == "]":
                depth -= 1
                if not depth:
                    return end
            elif char == "}" and depth == 0:
                break
            end += 1
        raise CommandError("unterminated array")


def split_union(text: str) -> list[str]:
    """Return the parts that commas outside of quotes separate."""
    parts, mark, last = [], "", 0
    for place, char in enumerate(text):
        if mark:
            mark = "" if char == mark else mark
        elif char in "'\"":
            mark = char
        elif char == ",":
            parts.append(text[last:place])
            last = place + 1
    return [*parts, text[last:]]


def unquote(raw: str) -> str:
    """Return a text with its escapes resolved."""
    escapes = {
        "n": "\n",
        "t": "\t",
        "r": "\r",
        "\\": "\\",
        '"': '"',
        "'": "'",
        "a": "\a",
        "b": "\b",
        "f": "\f",
        "v": "\v",
    }
    return re.sub(
        r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", lambda m: escapes.get(m[1]) or chr(int(m[1][1:], 16)), raw
    )


def _index(inner: str) -> Node:
    if inner[:1] == "'" and inner[-1:] == "'" and len(inner) > 1:  # double quotes are for texts alone
        return Node("field", unquote(inner[1:-1]))
    if inner.startswith("?(") and inner.endswith(")"):
        return _filter(inner[2:-1])
    match = _SLICE.match(inner)
    if match is None or not inner:
        raise CommandError(f"invalid array index {inner}")
    numbers = [int(each) if each else None for each in (match[1], match[3], match[5])]
    return Node("slice", (numbers[0], numbers[1], numbers[2], match[2] is not None))


def _filter(inner: str) -> Node:
    match = _FILTER.match(inner)
    if match is None:
        return Node("filter", "exists", (parse("{" + inner + "}"), ()))
    if match[2] not in _COMPARISONS:
        raise CommandError(f"unrecognized filter operator {match[2]}")
    sides = (parse("{" + match[1].strip() + "}"), parse("{" + match[3].strip() + "}"))
    return Node("filter", match[2], sides)


class JsonPath:
    """A template that can be run on objects."""

    def __init__(self, text: str, allow_missing: bool = True) -> None:
        self._nodes, self._allow = parse(text), allow_missing

    def results(self, value: Any) -> list[list[Any]]:
        """Return what each expression finds."""
        self._root = value
        return self._run(self._nodes, value)

    def _run(self, nodes: tuple[Node, ...], value: Any) -> list[list[Any]]:
        found: list[list[Any]] = []
        for node in nodes:
            if node.kind == "text":
                found.append([node.value])
            elif node.kind == "range":
                for item in self._path(node.value.value, value):
                    found += self._run(node.parts, item)
            else:
                found.append(self._path(node.value, value))
        return found

    def _path(self, path: tuple[Node, ...], value: Any) -> list[Any]:
        current = [value]
        for node in path:
            current = self._step(node, current, value)
        return current

    def _step(self, node: Node, values: list[Any], start: Any) -> list[Any]:
        match node.kind:
            case "text" | "literal":
                return [node.value]
            case "root":
                return [self._root]
            case "current":
                return values
            case "recursive":
                return [found for value in values for found in _deep(value)]
            case "wildcard":
                return [found for value in values for found in _children(value)]
            case "field":
                return self._fields(node.value, values)
            case "slice":
                return [found for value in values for found in self._slice(node.value, value)]
            case "union":
                return [found for part in node.parts for found in self._step(part, values, start)]
            case "filter":
                return [item for value in values for item in self._filtered(node, value)]
        raise AssertionError(node.kind)

    def _fields(self, name: str, values: list[Any]) -> list[Any]:
        found = [value[name] for value in values if isinstance(value, dict) and name in value]
        if not found and not self._allow:
            raise Missing(f"{name} is not found")
        return found

    def _slice(self, bounds: tuple[int | None, int | None, int | None, bool], value: Any) -> list[Any]:
        if value is None and self._allow:
            return []
        if not isinstance(value, list):
            raise CommandError(f"{go_printf.plain(value)} is not array or slice")
        first, last, step, ranged = bounds
        size = len(value)
        if not ranged:
            place = first or 0
            if not -size <= place < size:
                if self._allow and size == 0:
                    return []
                raise CommandError(
                    f"array index out of bounds: index {place if place >= 0 else place + size}, length {size}"
                )
            return [value[place]]
        if step is not None and step < 0:
            raise CommandError("step must be >= 0")
        begin = first if first is not None else 0
        begin = begin + size if begin < 0 else begin
        end = last if last is not None else size
        end = end + size if end < 0 else end
        return value[max(begin, 0) : min(end, size) : step or 1]

    def _filtered(self, node: Node, value: Any) -> list[Any]:
        if isinstance(value, dict):
            items = [value]
        elif isinstance(value, list):
            items = value
        elif value is None:
            return []
        else:
            raise CommandError(f"{go_printf.plain(value)} is not array or slice and cannot be filtered")
        return [item for item in items if self._matches(node, item)]

    def _matches(self, node: Node, item: Any) -> bool:
        sides = []
        for template in node.parts:
            try:
                sides.append([each for result in self._run(template, item) for each in result])
            except Missing:
                sides.append([])
        left = sides[0]
        if node.value == "exists":
            return bool(left)
        right = sides[1]
        if not left or not right:
            return False
        if len(left) > 1 or len(right) > 1:
            raise CommandError("can only compare one element at a time")
        return compare(left[0], right[0], node.value)

    def text(self, value: Any) -> str:
        """Return what the template makes of an object."""
        return "".join(" ".join(show(each) for each in found) for found in self.results(value))


def show(value: Any) -> str:
    """Return a result as text: lists and maps as JSON."""
    if isinstance(value, dict | list):
        from pybernetes.tools.kubectl.output.json import dumps

        return dumps(value, indent=None)
    return "null" if value is None else go_printf.plain(value)


def compare(left: Any, right: Any, sign: str) -> bool:
    """Compare two values; those of different types are never anything to each other."""
    number = isinstance(left, int | float) and not isinstance(left, bool)
    other = isinstance(right, int | float) and not isinstance(right, bool)
    if number != other or isinstance(left, str) != isinstance(right, str):
        return False
    try:
        return _COMPARISONS[sign](left, right)
    except TypeError:
        return False


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return list(value) if isinstance(value, list) else []


def _deep(value: Any) -> list[Any]:
    if not isinstance(value, dict | list):
        return []
    found = [value]
    for child in _children(value):
        found += _deep(child)
    return found


def relaxed(text: str) -> str:
    """Return a path with or without braces and leading dot, as {.path}."""
    if not text:
        return text
    match = re.match(r"^\{\.?([^{}]+)\}$|^\.?([^{}]+)$", text)
    if match is None:
        raise CommandError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    return "{." + (match[1] or match[2]) + "}"
