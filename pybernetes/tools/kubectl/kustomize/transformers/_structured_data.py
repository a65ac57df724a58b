"""Replacements in YAML and JSON that stand in a text, such as a file in a ConfigMap."""

from __future__ import annotations

from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.yaml_nodes.matching import match
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import SCALAR, Node
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup
from pybernetes.tools.kubectl.kustomize.yaml_nodes.reading import parse
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import to_value
from pybernetes.tools.kubectl.kustomize.yaml_nodes.writing import to_text


def set_inside(node: Node, value: Node, parts: list[str], create: int) -> bool:
    """Set a field in the YAML of a text that lies on a path; tell whether there was one."""
    try:
        return _set_inside(node, value, parts, create)
    except BuildError:
        return False


def _set_inside(node: Node, value: Node, parts: list[str], create: int) -> bool:
    for length in range(1, len(parts)):
        try:
            field = lookup(node, parts[:length])
        except BuildError:
            continue
        if field is None or field.kind != SCALAR:
            continue
        try:
            inner = parse(field.value)
        except BuildError:
            continue
        if inner is None:
            return False
        fields = match(inner, parts[length:], create)
        for inner_field in fields:
            if inner_field.kind == SCALAR:
                inner_field.value = value.value
            else:
                inner_field.assign(value)
        if fields:
            field.value = _written(inner, field.value)
        return bool(fields)
    return False


def _written(node: Node, before: str) -> str:
    if before.strip()[0] not in "{[":
        return to_text(node).strip()
    from pybernetes.tools.kubectl.kustomize.transformers.hash import go_json

    changed = parse(to_text(node))
    assert changed is not None
    return go_json(to_value(changed), indent="\n" in before and "  " in before)
