"""ReplacementTransformer: copies values from fields of one object to fields of others."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.resid import Gvk, ResId
from pybernetes.tools.kubectl.kustomize.selector import Selector
from pybernetes.tools.kubectl.kustomize.transformers._structured_data import set_inside
from pybernetes.tools.kubectl.kustomize.yaml_nodes.matching import match
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import SCALAR, Node, is_empty, scalar, value_of
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup, split_smartly

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource import Resource
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList

MAX_VALUE = 4 << 20  # characters that a field may become, so that replacements cannot double without end
_DEFAULT_PATH = "metadata.name"


class Transformer:
    """Copies values."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.replacements: list[dict[str, Any]] = []
        for replacement in config.get("replacements") or ():
            path = replacement.get("path", "")
            if path and ("source" in replacement or replacement.get("targets")):
                raise BuildError("cannot specify both path and inline replacement")
            self.replacements += _load(path, plugin) if path else [replacement]

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources, one after the other."""
        for replacement in self.replacements:
            source = replacement.get("source")
            if (source is None and "sourceValue" not in replacement) or "targets" not in replacement:
                raise BuildError("replacements must specify a source and at least one target")
            value = _value(resources, replacement)
            for target in replacement["targets"]:
                _replace(resources, value, target)
        resources.drop_gone()


def _load(path: str, plugin: Plugin) -> list[dict[str, Any]]:
    data = plugin.loader.load(path)
    with wrapped("error converting YAML to JSON"):
        value = typed.load(data)
    if not isinstance(value, list | dict):
        kinds = {str: "string", bool: "bool", int: "float64", float: "float64"}
        kind = kinds.get(type(value), "invalid")
        raise BuildError(f"unsupported replacement type encountered within replacement path: {kind}")
    return [typed.lenient(item, "Replacement") for item in (value if isinstance(value, list) else [value])]


def _value(resources: ResourceList, replacement: dict[str, Any]) -> Node:
    source = replacement.get("source")
    if "sourceValue" in replacement:
        if source is not None:
            raise BuildError("value and resource selectors are mutually exclusive")
        return scalar(replacement["sourceValue"])
    assert source is not None
    resource = _source(resources, source)
    path = source.get("fieldPath") or _DEFAULT_PATH
    with wrapped("error looking up replacement source"):
        node = lookup(resource.node, split_smartly(path))
    if node is None or is_empty(node):
        raise BuildError(f"fieldPath `{path}` is missing for replacement source {_id(source)}")
    options = source.get("options") or {}
    if not options.get("delimiter"):
        return node
    if node.kind != SCALAR:
        raise BuildError("delimiter option can only be used with scalar nodes")
    parts, index = value_of(node).split(options["delimiter"]), options.get("index", 0)
    if not 0 <= index < len(parts):
        raise BuildError(f"options.index {index} is out of bounds for value {value_of(node)}")
    copied = node.copy()
    copied.value = parts[index]
    return copied


def _id(selector: dict[str, Any]) -> ResId:
    return ResId(Gvk.from_value(selector), selector.get("name", ""), selector.get("namespace", ""), False)


def _source(resources: ResourceList, source: dict[str, Any]) -> Resource:
    wanted = _id(source)
    matches = [
        item for item in resources.items if any(identity.is_selected_by(wanted) for identity in _ids(item))
    ]
    if len(matches) == 1:
        return matches[0]
    text = str(wanted)
    if source.get("fieldPath"):
        text += f":{source['fieldPath']}"
    options = source.get("options") or {}
    if options.get("delimiter") or options.get("create"):
        create = "true" if options.get("create") else "false"
        text += f":{options.get('delimiter', '')}({options.get('index', 0)}), create={create}"
    raise BuildError(f"multiple matches for selector {text}" if matches else f"nothing selected by {text}")


def _ids(resource: Resource) -> list[ResId]:
    now = resource.id
    now.cluster_scoped = False  # the original does not look that up here
    return [now, *resource.previous_ids]


def _replace(resources: ResourceList, value: Node, target: dict[str, Any]) -> None:
    if target.get("select") is None:
        raise BuildError("target must specify resources to select")
    with wrapped("error creating target selector"):
        selector = Selector(target["select"])
        rejected = [Selector(item) for item in target.get("reject") or ()]
    for resource in resources.items:
        if not selector.matches_metadata(resource) or any(
            reject.matches_metadata(resource) for reject in rejected if reject.labels or reject.annotations
        ):
            continue
        ids = _ids(resource)
        if any(reject.patterns and any(map(reject.matches_id, ids)) for reject in rejected):
            continue
        if any(map(selector.matches_id, ids)):
            _copy(resource, value, target)


def _copy(resource: Resource, value: Node, target: dict[str, Any]) -> None:
    options = target.get("options") or {}
    create = value.kind if options.get("create") else 0
    assert resource.node is not None
    for path in target.get("fieldPaths") or [_DEFAULT_PATH]:
        parts = split_smartly(path)
        if set_inside(resource.node, value, parts, create):
            continue
        from pybernetes.api.text import go_format

        verb = "find or create" if create else "find"
        complaint = f"unable to {verb} field {go_format.quote(path)} in replacement target"
        with wrapped(complaint):
            fields = match(resource.node, parts, create)
        if not fields:
            raise BuildError(complaint)
        for field in fields:
            _set(field, value.copy(), options)


def _set(field: Node, value: Node, options: dict[str, Any]) -> None:
    if options.get("delimiter"):
        if field.kind != SCALAR:
            raise BuildError("delimiter option can only be used with scalar nodes")
        parts, index = field.value.split(options["delimiter"]), options.get("index", 0)
        if index < 0:
            parts.insert(0, value_of(value))
        elif index >= len(parts):
            parts.append(value_of(value))
        else:
            parts[index] = value_of(value)
        value.value = options["delimiter"].join(parts)
    if len(value.value) > MAX_VALUE:
        raise BuildError(f"a replacement makes a value with more than {MAX_VALUE} characters")
    if field.kind == SCALAR:
        field.value = value.value
    else:
        field.assign(value)
