"""Nodes as plain values: what is left of them when they are written and read again, as JSON."""

from __future__ import annotations

import base64
import binascii
import math

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    NONE,
    SCALAR,
    SEQUENCE,
    STRING,
    Node,
    OddKey,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.resolving import resolve
from pybernetes.tools.kubectl.output.yaml.plain_writer import NEEDS_QUOTES
from pybernetes.tools.kubectl.output.yaml.scalars import go_float, is_ambiguous

if TYPE_CHECKING:
    from typing import Any

_RESOLVABLE = ("!!str", "!!bool", "!!int", "!!float", "!!null", "!!timestamp")


def to_value(node: Node) -> Any:
    """Return what a node stands for; refuse what JSON has no form for."""
    kind = node.kind
    if kind == SCALAR:
        tag = node.tag
        if (tag == STRING or (not tag and node.style)) and not node.explicit:
            return node.value
        return _scalar(node)
    if kind == MAPPING:
        for key in node.content:
            if type(key) is OddKey:
                raise BuildError("json: unsupported type: map[interface {}]interface {}")
        return {key: to_value(value) for key, value in node.content.items()}
    if kind == SEQUENCE:
        return [to_value(item) for item in node.content]
    assert kind == NONE
    return None


def _scalar(node: Node) -> Any:
    tag, value = resolve(node.value)
    if node.tag == "!!binary":
        try:
            return base64.b64decode(node.value, validate=False).decode("utf-8", "replace")
        except binascii.Error:
            raise BuildError("yaml: !!binary value contains invalid base64 data") from None
    if node.tag and (node.tag not in _RESOLVABLE or node.tag == STRING):
        return node.value
    if node.style:
        if not node.tag or (node.tag == tag and not node.explicit):
            return node.value
    elif "\n" in node.value and not node.tag:
        return node.value
    if node.tag and node.tag != tag:
        if node.tag == "!!float" and tag == "!!int":
            return float(value)
        raise BuildError(f"yaml: cannot decode {tag} `{node.value}` as a {node.tag}")
    if tag == "!!float" and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise BuildError(f"json: unsupported value: {name}")
    return value


def _style(value: str) -> str:
    """Return the style that a text gets when it is written: another value in its place keeps it."""
    if "\n" in value:
        return "|"
    if is_ambiguous(value):
        return '"'
    return "'" if NEEDS_QUOTES.match(value) else ""


def from_value(value: Any) -> Node:
    """Return a node for a plain value."""
    if isinstance(value, str):
        return Node(SCALAR, value, STRING, _style(value))
    if isinstance(value, dict):
        return Node(MAPPING, content={key: from_value(item) for key, item in sorted(value.items())})
    if isinstance(value, list):
        return Node(SEQUENCE, content=[from_value(item) for item in value])
    if value is None:
        return Node(SCALAR, "null", "!!null")
    if isinstance(value, bool):
        return Node(SCALAR, "true" if value else "false", "!!bool")
    number = go_float(float(value))
    return Node(SCALAR, number, "!!int" if number.lstrip("-").isdigit() else "!!float")
