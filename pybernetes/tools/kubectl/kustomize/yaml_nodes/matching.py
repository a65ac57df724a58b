"""Paths with patterns: all nodes that a path of a replacement means."""

from __future__ import annotations

from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, SCALAR, SEQUENCE, Node, new, scalar
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import (
    get,
    is_list_index,
    is_number,
    kind_before,
    require,
    set_field,
    split_index,
)


def match(node: Node, parts: list[str], create: int = 0) -> list[Node]:
    """Return the nodes at a path; those of a kind are made where there are none."""
    if not parts:
        return [node]
    part, rest = parts[0], parts[1:]
    if is_number(part):
        return _indexed(node, int(part), part, rest, create)
    if is_list_index(part):
        return _selected(node, part, rest, create)
    if part == "*":
        return [matched for item in _items(node) for matched in match(item, rest, create)]
    return _field(node, part, rest, create)


def _items(node: Node) -> list[Node]:
    require(node, SEQUENCE)
    return node.content if node.kind == SEQUENCE else []


def _field(node: Node, name: str, rest: list[str], create: int) -> list[Node]:
    field = get(node, name)
    if field is None:
        if not create:
            return []
        field = new(kind_before(rest[0] if rest else "", create))
        set_field(node, name, field)
    if field.kind == SCALAR and rest:
        # YAML in a text: what is found in it is of no use to anybody, but counts as found.
        from pybernetes.tools.kubectl.kustomize.yaml_nodes.reading import parse

        inner = parse(field.value)
        return match(inner, rest, create) if inner is not None else []
    return match(field, rest, create)


def _indexed(node: Node, index: int, part: str, rest: list[str], create: int) -> list[Node]:
    items = _items(node)
    if len(items) == index and create:
        with wrapped(f'failed to append element for "{part}"'):
            require(node, SEQUENCE)
            items.append(new(kind_before(rest[0] if rest else "", create)))
    if index >= len(items):
        raise BuildError(f"index {index} specified but only {len(items)} elements found")
    return match(items[index], rest, create)


def _selected(node: Node, part: str, rest: list[str], create: int) -> list[Node]:
    from pybernetes.api.text.regular_expressions import PatternError, compile_pattern

    name, text = split_index(part)
    try:
        pattern = compile_pattern(text)
    except PatternError as error:
        raise BuildError(str(error)) from None
    while True:
        matches: list[Node] = []
        for item in _items(node):
            field = item if not name else item.field(name)
            if field is None or pattern.search(_shown(field)) is None:
                continue
            matches += match(item, rest, create) if name else [item]
        if matches or not create:
            return matches
        made = Node(MAPPING, content={name: scalar(text)}) if name else scalar(text)
        if pattern.search(_shown(scalar(text))) is None:
            raise BuildError(f'failed to create element for "{part}"')
        with wrapped(f'failed to create element for "{part}"'):
            require(node, SEQUENCE)
            node.content.append(made)


def _shown(node: Node) -> str:
    from pybernetes.tools.kubectl.kustomize.yaml_nodes.writing import to_text

    return to_text(node).strip()
