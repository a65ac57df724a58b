"""HashTransformer: puts a hash of what generated objects hold behind their names."""

from __future__ import annotations

import hashlib

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.resource import ENABLED, NEEDS_HASH, Resource
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import SCALAR, Node
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import to_value

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList

_LETTERS = str.maketrans("013ae", "ghkmt")
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_FIELDS = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}


class Transformer:
    """Gives names a hash."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        pass

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        for resource in resources.items:
            if resource.annotation(NEEDS_HASH) == ENABLED:
                made = digest(resource)
                resource.remember()
                resource.set_name(f"{resource.name}-{made}")


def digest(resource: Resource) -> str:
    """Return ten letters and digits for what an object holds."""
    node = resource.node
    assert node is not None
    if resource.kind in _FIELDS:
        always, maybe = _FIELDS[resource.kind]
        value: Any = {
            "kind": resource.kind,
            "name": _text(node, "metadata/name"),
            always: _text(node, always),
        }
        if isinstance(content := _text(node, maybe), dict):
            value[maybe] = content
        if resource.kind == "Secret":
            value["type"] = _text(node, "type")
    else:
        value = _struct(node)
    return hashlib.sha256(go_json(value).encode()).hexdigest()[:10].translate(_LETTERS)


def _text(node: Node, path: str) -> Any:
    # The original looks for a field of this name with the slash in it: names of objects do not count.
    field = lookup(node, [path])
    if field is None:
        return ""
    if field.kind == SCALAR:
        return field.value
    value = to_value(field)
    return value if isinstance(value, dict) else None


def _struct(node: Node) -> dict[str, Any]:
    """Return a node as Go writes down its struct, without places in files, which differ."""
    content = []
    for key, value in node.content.items() if isinstance(node.content, dict) else ():
        content += [_struct(Node(SCALAR, key, "!!str")), _struct(value)]
    for item in node.content if isinstance(node.content, list) else ():
        content.append(_struct(item))
    return {"Kind": node.kind, "Tag": node.tag, "Value": node.value, "Content": content or None}


def _numbers(value: Any) -> Any:
    """Return a value whose numbers are as Go writes those that it has read from JSON."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def go_json(value: Any, indent: bool = False) -> str:
    """Return a value as Go's JSON writer has it: keys sorted, some characters escaped for HTML."""
    import json

    marks = (",", ": ") if indent else (",", ":")
    text = json.dumps(
        _numbers(value), ensure_ascii=False, sort_keys=True, separators=marks, indent=2 if indent else None
    )
    if any(char in text for char in _HTML):
        for char, escaped in _HTML.items():
            text = text.replace(char, escaped)
    return text
