"""Reads YAML into nodes: documents apart, aliases and merges written out, nothing of unbounded size."""

from __future__ import annotations

import re

import yaml

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    SCALAR,
    SEQUENCE,
    STRING,
    Node,
    key,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.resolving import resolve_tag

if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 100
MAX_ALIASED = 100_000  # nodes that aliases stand for, all in all
_SEPARATOR = re.compile(r"\n---.*\n")
_LONG = "tag:yaml.org,2002:"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Malformed(BuildError):
    """The text is not YAML."""


def documents(data: bytes) -> list[Node]:
    """Return the documents of a text, without empty ones."""
    nodes = []
    parts = split(decoded(data).replace("\r\n", "\n"))
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        try:
            node = parse(part if last else part + "\n")
        except Malformed as error:
            raise Malformed(f"MalformedYAMLError: {error.message}") from None
        if node is None or node.tag == "!!null":
            continue
        kind = node.field("kind")
        if len(parts) == 1 and kind is not None and kind.value in ("List", "ResourceList"):
            items = node.field("items")
            if items is not None or node.field("functionConfig") is not None:
                if items is not None and items.kind in (MAPPING, SEQUENCE):
                    nodes += items.content.values() if items.kind == MAPPING else items.content
                continue
        nodes.append(node)
    return nodes


def decoded(data: bytes) -> str:
    """Return the text of bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Malformed("MalformedYAMLError: yaml: invalid leading UTF-8 octet") from None


def split(text: str) -> list[str]:
    """Return the parts of a text between lines of three dashes."""
    parts, before = [], 0
    for match in _SEPARATOR.finditer(text):
        behind = match[0][4:].strip()
        if behind and behind[0] != "#":
            raise BuildError(f"invalid document separator: {match[0].strip()}")
        parts.append(text[before : match.start()])
        before = match.end()
    return [*parts, text[before:]] if text else []


def parse(text: str) -> Node | None:
    """Return the first document of a text, None if there is none."""
    loader = _Loader(text)
    try:
        return _Builder(loader.get_event).document()
    except yaml.YAMLError as error:
        from pybernetes.api.text.yaml_reader import complaint

        raise Malformed(complaint(error)) from None
    finally:
        loader.dispose()


class _Builder:
    def __init__(self, following: Any) -> None:
        self.next = following
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.count = 0  # of the nodes so far, with those that aliases stand for
        self.aliased = 0

    def document(self) -> Node | None:
        self.next()
        if type(self.next()) is yaml.StreamEndEvent:
            return None
        return self.node(self.next(), 0)

    def node(self, event: Any, depth: int) -> Node:
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self._alias(event.anchor)
        before = self.count
        self.count += 1
        if kind is yaml.ScalarEvent:
            node = _scalar(event)
        elif depth > MAX_DEPTH:
            raise Malformed(f"yaml: exceeded max depth of {MAX_DEPTH}")
        elif kind is yaml.MappingStartEvent:
            node = Node(MAPPING, content=self._entries(depth + 1))
        else:
            items = []
            while type(item := self.next()) is not yaml.SequenceEndEvent:
                items.append(self.node(item, depth + 1))
            node = Node(SEQUENCE, content=items)
        if event.anchor:
            self.anchors[event.anchor] = node, self.count - before
        return node

    def _alias(self, name: str) -> Node:
        if name not in self.anchors:
            raise Malformed(f"yaml: unknown anchor '{name}' referenced")
        node, size = self.anchors[name]
        self.count += size
        self.aliased += size
        if self.aliased > MAX_ALIASED:
            raise Malformed("yaml: document contains excessive aliasing")
        return node.copy()

    def _entries(self, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        merged: Node | None = None
        lines: dict[str, int] = {}
        while type(event := self.next()) is not yaml.MappingEndEvent:
            name = self.node(event, depth)
            value = self.node(self.next(), depth)
            if name.tag == "!!merge":
                if merged is not None:
                    raise BuildError("duplicate merge key")
                merged = value
                continue
            if name.kind != SCALAR:
                raise Malformed("yaml: invalid map key")
            line = event.start_mark.line + 1
            if name.value in entries:
                raise BuildError(
                    f'yaml: unmarshal errors:\n  line {line}: mapping key "{name.value}" already defined '
                    f"at line {lines[name.value]}"
                )
            lines[name.value] = line
            entries[key(name.value, name.style)] = value
        if merged is not None:
            _merge(entries, merged)
        return entries


def _merge(entries: dict[str, Node], merged: Node) -> None:
    """Add the entries of mappings that a mapping has not itself."""
    sources = merged.content if merged.kind == SEQUENCE else [merged]
    for source in sources:
        if source.kind == SEQUENCE:
            raise BuildError("invalid map merge: received a nested sequence")
        if source.kind != MAPPING:
            raise BuildError("map merge requires map or sequence of maps as the value")
        for name, value in source.content.items():
            if name not in entries:
                entries[name] = value


def _scalar(event: Any) -> Node:
    value, tag = event.value, event.tag
    if tag and tag != "!":
        tag = f"!!{tag.removeprefix(_LONG)}" if tag.startswith(_LONG) else tag
        return Node(SCALAR, value, tag, event.style or "", None, True)
    if not event.implicit[0]:
        return Node(SCALAR, value, STRING, event.style or "")
    return Node(SCALAR, value, resolve_tag(value))
