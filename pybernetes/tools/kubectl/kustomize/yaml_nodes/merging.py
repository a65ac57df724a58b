"""Strategic merge patches: a patch is walked together with the object that it changes."""

from __future__ import annotations

from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.schema import Schema, schema_of
from pybernetes.tools.kubectl.kustomize.yaml_nodes.list_merging import merge_list
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    NONE,
    NULL,
    SCALAR,
    SEQUENCE,
    Node,
    OddKey,
    is_null,
    value_of,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import get, quote, require, set_field

_DIRECTIVE = "$patch"
_DIRECTIVES = ("delete", "replace", "merge")


def merge(patch: Node | None, target: Node | None) -> Node | None:
    """Return the target with a patch in it, None if nothing is left."""
    return walk(target, patch, None)


def walk(target: Node | None, patch: Node | None, schema: Schema | None) -> Node | None:
    """Return what two nodes at one place become."""
    if schema is None:
        schema = _schema(target) or _schema(patch)
    kind = next((node.kind for node in (target, patch) if node is not None and not is_null(node)), NONE)
    if kind != NONE:
        require(target, kind)
        require(patch, kind)
    if kind == SCALAR:
        return patch if patch is not None else target
    if kind == SEQUENCE:
        if schema is not None and schema.keys is not None:
            return _merge_list(target, patch, schema)
        return patch if patch is not None else target
    return _merge_mapping(target, patch, schema)


def _schema(node: Node | None) -> Schema | None:
    if node is None or node.kind != MAPPING:
        return None
    kind, version = value_of(node.content.get("kind")), value_of(node.content.get("apiVersion"))
    return schema_of(version, kind) if kind and version else None


def _merge_mapping(target: Node | None, patch: Node | None, schema: Schema | None) -> Node | None:
    kept = _kept_mapping(target, patch)
    if kept is None or kept.kind != MAPPING:
        return kept
    others = patch.content if patch is not None and patch.kind == MAPPING else {}
    styles = {name: "" if type(name) is OddKey else '"' for name in others}
    for name in sorted({*kept.content, *others}):
        own, other = kept.content.get(name), others.get(name)
        if other is None and own is not None and own.kind == SCALAR and own.tag != NULL:
            quote(own)  # nothing else changes here
            continue
        value = walk(own, other, schema.field(name) if schema else None)
        stays = value is not None and value is own and own.tag == NULL and bool(own.value)
        set_field(kept, name, value, styles.get(name, ""), keep=stays)
    return kept


def _kept_mapping(target: Node | None, patch: Node | None) -> Node | None:
    """Return the node into which the fields go, None if nothing stays."""
    if is_null(target):
        try:
            directive = _mapping_directive(patch)
        except BuildError:
            directive = "unknown"
        if directive == "delete":
            return None
        if patch is None and target is not None and target.value:
            return target
        return patch
    if patch is not None and patch.tag == "!!null":
        return None
    directive = _mapping_directive(patch)
    return None if directive == "delete" else patch if directive == "replace" else target


def _mapping_directive(patch: Node | None) -> str:
    if patch is None:
        return "merge"
    if patch.kind != MAPPING:
        return _no_strategy(patch)
    directive = patch.content.get(_DIRECTIVE)
    if directive is None:
        return "merge"
    if directive.value not in _DIRECTIVES:
        raise BuildError(f"unknown patch strategy '{directive.value}'")
    del patch.content[_DIRECTIVE]
    return directive.value


def _no_strategy(patch: Node) -> str:
    from pybernetes.tools.kubectl.kustomize.yaml_nodes.writing import to_text

    raise BuildError(f"no implemented strategic merge patch strategy for '{patch.tag}' ('{to_text(patch)}')")


def _merge_list(target: Node | None, patch: Node | None, schema: Schema) -> Node | None:
    if is_null(target):
        kept = patch
    elif patch is not None and patch.tag == "!!null":
        return None
    else:
        directive = _list_directive(patch)
        kept = None if directive == "delete" else patch if directive == "replace" else target
    if kept is None:
        return None
    return merge_list(kept, patch, schema, walk)


def _list_directive(patch: Node | None) -> str:
    if patch is None:
        return "merge"
    for item in patch.content:
        if item.kind == MAPPING and _DIRECTIVE in item.content:
            directive = get(item, _DIRECTIVE)
            if len(item.content) > 1 or directive is None:
                return "merge"
            if directive.value not in _DIRECTIVES:
                raise BuildError(f"unknown patch strategy '{directive.value}'")
            patch.content = [
                other
                for other in patch.content
                if not (other.kind == MAPPING and value_of(other.content.get(_DIRECTIVE)) == directive.value)
            ]
            return directive.value
    return "merge"
