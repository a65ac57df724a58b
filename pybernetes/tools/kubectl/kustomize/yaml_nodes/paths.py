"""Ways into nodes: fields, elements of lists, and setting them as the original does."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, WrongKind
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    KINDS,
    MAPPING,
    SCALAR,
    SEQUENCE,
    Node,
    is_null,
    is_text,
    key,
    new,
    scalar,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.resolving import is_other_in_1_1

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}\Z")
_INDEXED = re.compile(r"(.*)\[(\d+)\]\Z", re.DOTALL)


def require(node: Node | None, kind: int) -> None:
    """Refuse a node of another kind; null is of every kind."""
    if is_null(node):
        return
    assert node is not None
    if node.kind != kind:
        from pybernetes.tools.kubectl.kustomize.yaml_nodes.writing import to_text

        error = WrongKind(
            f"wrong node kind: expected {KINDS[kind]} but got {KINDS[node.kind]}: node contents:\n{to_text(node)}"
        )
        error.actual = node.kind
        raise error


def get(node: Node | None, name: str) -> Node | None:
    """Return a field of a mapping."""
    if is_null(node):
        return None
    require(node, MAPPING)
    assert node is not None
    return node.content.get(name)


def split_path(path: str, delimiter: str) -> list[str]:
    """Return the parts of a path; a backslash keeps a delimiter in a part."""
    parts = path.split(delimiter)
    if len(parts) > 1 and not parts[0]:
        parts = parts[1:]
    result = [parts[0]]
    for part in parts[1:]:
        if result[-1].endswith("\\"):
            result[-1] = f"{result[-1][:-1]}{delimiter}{part}"
        else:
            result.append(part)
    return result


def split_smartly(path: str, delimiter: str = ".") -> list[str]:
    """Return the parts of a path in which brackets keep delimiters."""
    result: list[str] = []
    parts = iter(split_path(path, delimiter))
    for part in parts:
        if part.startswith("[") and not part.endswith("]"):
            for following in parts:
                part = f"{part}{delimiter}{following}"
                if following.endswith("]"):
                    break
            result.append(part if "=" in part else part.strip("[]"))
        else:
            result.append(part)
    return result


def with_indices(parts: list[str]) -> list[str]:
    """Return a path in which name[0] is two parts."""
    result: list[str] = []
    for part in parts:
        if match := _INDEXED.match(part):
            result += [match[1], match[2]] if match[1] else [match[2]]
        else:
            result.append(part)
    return result


def is_list_index(part: str) -> bool:
    """Return whether a part of a path picks elements of a list: [name=value]."""
    return part.startswith("[") and part.endswith("]")


def is_number(part: str) -> bool:
    """Return whether a part of a path is a place in a list."""
    return bool(_NUMBER.match(part)) and int(part) >= 0


def split_index(part: str) -> tuple[str, str]:
    """Return name and value of [name=value]."""
    name, equals, value = part.removesuffix("]").removeprefix("[").partition("=")
    if not equals:
        raise BuildError("list path element must contain fieldName=fieldValue for element to match")
    return name, value


def kind_before(following: str, otherwise: int) -> int:
    """Return the kind that a new node must have for the next part of a path."""
    if is_list_index(following) or is_number(following):
        return SEQUENCE
    return MAPPING if following else otherwise


def lookup(node: Node | None, path: Sequence[str], create: int = 0) -> Node | None:
    """Return the node at a path, made if a kind is given and it is not there."""
    parts = [part.strip() for part in path if part.strip()]
    for place, part in enumerate(parts):
        if node is None:
            return None
        following = parts[place + 1] if place + 1 < len(parts) else ""
        node = _step(node, part, following, create)
    return node


def _step(node: Node, part: str, following: str, create: int) -> Node | None:
    if part == "-" or _NUMBER.match(part):
        require(node, SEQUENCE)
        items = node.content or []
        if part == "-":
            return items[-1] if items else None
        if int(part) < 0:
            raise BuildError(f"array index {int(part)} cannot be negative")
        return items[int(part)] if int(part) < len(items) else None
    if part == "*":
        raise BuildError("wildcard is not supported in PathGetter")
    if is_list_index(part):
        name, value = split_index(part)
        return match_element(node, name, value, create)
    field = get(node, part)
    if field is None and create and not is_null(node):
        return set_field(node, part, new(kind_before(following, create)))
    return field


def match_element(node: Node, name: str, value: str, create: int = 0) -> Node | None:
    """Return the element of a list that has a value, or a field of that value."""
    require(node, SEQUENCE)
    items = node.content if node.kind == SEQUENCE else []
    for item in items:
        if not name:
            if item.value == value:
                return item
        elif item.kind == MAPPING and (field := item.content.get(name)) is not None and field.value == value:
            return item
    if not create:
        return None
    made = Node(MAPPING, content={name: scalar(value)}) if name else scalar(value)
    items.append(made)
    return made


def set_scalar(node: Node, value: Node) -> None:
    """Make a scalar another one; it keeps its style, and so does the other one from now on."""
    quote(value)
    require(node, SCALAR)
    if is_null(value):
        return
    value.style = node.style
    node.assign(value)


def set_field(
    node: Node, name: str, value: Node | None, key_style: str = "", keep: bool = False
) -> Node | None:
    """Set a field of a mapping; one that is there keeps its style, null takes it away."""
    if value is not None:
        quote(value)
    require(node, MAPPING)
    if value is None or (value.tag == "!!null" and not keep):
        return node.content.pop(name, None) if node.kind == MAPPING else None
    if node.kind != MAPPING:  # a null becomes what is put into it
        node.assign(new(MAPPING))
    field: Node | None = node.content.get(name)
    if field is None:
        node.content[key(name, key_style)] = value
        return value
    value.style = field.style
    field.assign(value)
    return field


def quote(value: Node) -> None:
    """Give quotes to a text that YAML 1.1 takes for something else."""
    if not value.style and is_text(value) and is_other_in_1_1(value.value):
        value.style = '"'
