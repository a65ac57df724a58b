"""Makes objects from YAML: lists taken apart, what is no object refused."""

from __future__ import annotations

from collections import deque

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.resource import Resource
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, SEQUENCE, Node, is_empty, value_of
from pybernetes.tools.kubectl.kustomize.yaml_nodes.reading import documents
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import from_value, to_value

if TYPE_CHECKING:
    from typing import Any


def from_bytes(data: bytes) -> list[Resource]:
    """Return the objects of a text."""
    nodes = deque(_checked(documents(data)))
    result: list[Node] = []
    while nodes:
        node = nodes.popleft()
        kind = value_of(node.field("kind"))
        items = node.field("items") if kind.endswith("List") else None
        if items is None:
            result.append(node)
        elif items.kind == SEQUENCE:
            nodes.extend(_checked([from_value(to_value(item)) for item in items.content]))
        elif items.tag != "!!null":
            raise BuildError(f"expected array in {kind}/items, but found {_go_type(items)}")
    return [Resource(node) for node in result]


def _go_type(node: Node) -> str:
    if node.kind == MAPPING:
        return "map[string]interface {}"
    return {str: "string", bool: "bool", int: "int", float: "float64"}[type(to_value(node))]


def handled(error: BuildError, path: str) -> BuildError:
    """Return an error about a file with the file in it, where the original has it."""
    if "error converting YAML to JSON" in error.message or "error unmarshaling JSON" in error.message:
        return BuildError(f"YAML file [{path}] encounters a format error.\n{error.message}\n")
    if "MalformedYAMLError" in error.message:
        return BuildError(f"{error.message} in File: {path}")
    return error


def _checked(nodes: list[Node]) -> list[Node]:
    kept = [node for node in nodes if not is_empty(node)]
    for node in kept:
        check_metadata(node)
    return kept


def check_metadata(node: Node) -> None:
    """Refuse what has no kind, or no name."""
    type_meta = {name: _plain(node.field(name)) for name in ("apiVersion", "kind")}
    metadata = node.field("metadata")
    empty = is_empty(metadata)
    inner = {
        name: "" if empty or metadata is None else _plain(metadata.field(name))
        for name in ("name", "namespace")
    }
    maps = [
        _map(metadata.field(name)) if not empty and metadata else "map[]"
        for name in ("labels", "annotations")
    ]
    if not any(type_meta.values()) and not any(inner.values()) and maps == ["map[]"] * 2:
        raise BuildError("missing Resource metadata")
    shown = f"{{{{{type_meta['apiVersion']} {type_meta['kind']}}} {{{{{inner['name']} {inner['namespace']}}} {maps[0]} {maps[1]}}}}}"
    if not type_meta["kind"]:
        raise BuildError(f"missing kind in object {shown}")
    if not type_meta["kind"].endswith("List") and not inner["name"]:
        raise BuildError(f"missing metadata.name in object {shown}")


def _plain(node: Node | None) -> str:
    return "" if node is None or is_empty(node) else node.value


def _map(node: Node | None) -> Any:
    if node is None or node.kind != MAPPING:
        return "map[]"
    return f"map[{' '.join(f'{key}:{value_of(node.content[key])}' for key in sorted(node.content))}]"
