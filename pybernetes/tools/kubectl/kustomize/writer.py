"""Objects and configurations as YAML, as the original writes them."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, SCALAR, SEQUENCE, STRING, Node, OddKey
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import to_value
from pybernetes.tools.kubectl.output.yaml.printer import dumps
from pybernetes.tools.kubectl.output.yaml.scalars import json_number

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.resource import Resource
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


def as_yaml(value: Any) -> str:
    """Return a value as YAML."""
    return dumps(value)


def documents(resources: ResourceList) -> str:
    """Return objects as YAML documents."""
    return "---\n".join(_document(resource) for resource in resources.items)


def _document(resource: Resource) -> str:
    try:
        return as_yaml(resource.value())
    except BuildError as error:
        raise BuildError(f"{literal(resource.node)}: {error.message}") from None


def literal(node: Node | None) -> str:
    """Return a node as Go writes down the value that it is."""
    from pybernetes.api.text.go_format import quote

    if node is None or node.tag == "!!null":
        return "interface {}(nil)"
    if node.kind == SEQUENCE:
        return f"[]interface {{}}{{{', '.join(literal(item) for item in node.content)}}}"
    if node.kind != MAPPING:
        value = to_value(node)
        return (
            quote(value)
            if isinstance(value, str)
            else json_number(value)
            if isinstance(value, float)
            else _word(value)
        )
    odd = any(type(key) is OddKey for key in node.content)
    entries = []
    for key in sorted(node.content):
        name = literal(Node(SCALAR, key, "" if type(key) is OddKey else STRING))
        entries.append(f"{name}:{literal(node.content[key])}")
    return f"map[{'interface {}' if odd else 'string'}]interface {{}}{{{', '.join(entries)}}}"


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
