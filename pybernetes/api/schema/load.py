"""Build the type graph from the published JSON schemas of Kubernetes v1.37.

The schemas come with the kubernetes-validate package. They are 1.8 MB, most of it prose, so the part
that the graph needs is derived once and kept as a small file in the user's cache directory.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from pybernetes.api.schema import facts
from pybernetes.api.schema.types import Type

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

_VERSION = "v1.37.0"
_FORM = 1  # raise when the derived form changes
_SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "microtime",
}
# Objects that hold whatever they are given; others without properties are structs without fields.
_OPEN = frozenset((
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
))  # fmt: skip
_KEPT = ("$ref", "format", "enum", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
         "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy")  # fmt: skip


# Kinds that are known at every version of every group.
_EVERYWHERE = frozenset(
    {"DeleteOptions", "Status", "WatchEvent", "ListOptions", "CreateOptions", "UpdateOptions"}
)


def source() -> Path:
    """Return the file with all definitions, inside the installed schema package."""
    spec = importlib.util.find_spec("kubernetes_validate")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(
            "the package kubernetes-validate is not installed: pip install kubernetes-validate"
        )
    root = Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema"
    return root / f"{_VERSION}-local" / "_definitions.json"


@lru_cache(maxsize=1)
def definitions() -> Object:
    """Return every definition in full, descriptions included (for OpenAPI and explain; loaded late)."""
    return orjson.loads(source().read_bytes())["$defs"]


def cache_file() -> Path:
    """Return the file that the derived form is kept in."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "pybernetes" / f"schema-{_VERSION}-{_FORM}.json"


def _derive(node: Object) -> Object:
    """Return a definition without its prose."""
    slim = {key: node[key] for key in _KEPT if key in node}
    kind = node.get("type")
    if kind:
        slim["type"] = next(item for item in kind if item != "null") if isinstance(kind, list) else kind
    if "properties" in node:
        slim["properties"] = {name: _derive(child) for name, child in node["properties"].items()}
        slim["required"] = node.get("required", [])
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            slim[key] = _derive(node[key])
    if "x-kubernetes-group-version-kind" in node:
        slim["kinds"] = [
            [named["group"], named["version"], named["kind"]]
            for named in node["x-kubernetes-group-version-kind"]
        ]
    return slim


@lru_cache(maxsize=1)
def compact() -> Object:
    """Return the derived form of every definition, from the cache file if there is one."""
    path = cache_file()
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        pass
    derived = {name: _derive(node) for name, node in definitions().items()}
    definitions.cache_clear()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(orjson.dumps(derived))
        os.replace(temporary, path)
    except OSError:
        pass  # a read-only home costs a few milliseconds at the next start, nothing else
    return derived


@lru_cache(maxsize=1)
def _older() -> Object:
    """Return the definitions that the schemas lack: messages that are no longer served, and metadata alone."""
    return orjson.loads(files(__package__).joinpath("older.json").read_bytes())


def definition(name: str) -> Object:
    """Return the derived form of a definition; an empty one if nothing is known of it."""
    return compact().get(name) or _older().get(name, {})


@lru_cache(maxsize=1)
def _kinds() -> dict[tuple[str, str, str], str]:
    return {
        (group, version, kind): name
        for name, node in compact().items()
        if len(node.get("kinds", ())) == 1
        for group, version, kind in node["kinds"]
    }


def definition_name(group: str, version: str, kind: str) -> str:
    """Return the name of a kind's definition, such as ``io.k8s.api.core.v1.Pod``; raise KeyError if there is none."""
    return _kinds()[group, version, kind]


def has_version(group: str, version: str) -> bool:
    """Return whether Kubernetes has kinds at a version of a group."""
    return any(known[:2] == (group, version) for known in _kinds())


def has_message(group: str, version: str, kind: str) -> bool:
    """Return whether the protobuf form of a kind is known."""
    name = _kinds().get((group, version, kind), "")
    return bool(facts.message(name))


def is_kind(group: str, version: str, kind: str) -> bool:
    """Return whether there is a kind, or a list of it, or one of the few that every group has."""
    kinds = _kinds()
    return (
        (group, version, kind) in kinds
        or (kind.endswith("List") and (group, version, kind.removesuffix("List")) in kinds)
        or (kind in _EVERYWHERE and any(known[:2] == (group, version) for known in kinds))
    )


def kind_type(group: str, version: str, kind: str) -> Type:
    """Return the type of a built-in kind."""
    return named(definition_name(group, version, kind))


@cache
def named(name: str) -> Type:
    """Return the type of a definition."""
    return _build({"$ref": name})


def _build(node: Object) -> Type:
    """Return the type of a field, with what the field itself says laid over what its definition says."""
    reference = node.get("$ref", "").rpartition("/")[2]
    if reference in _SPECIAL:
        return Type(_SPECIAL[reference])
    merged = {**compact()[reference], **node} if reference else node
    result = _shape(merged, reference)
    result.format = merged.get("format", "")
    result.enum = tuple(merged.get("enum", ()))
    result.strategy = tuple(merged.get("x-kubernetes-patch-strategy", "").split(","))
    result.merge_key = merged.get("x-kubernetes-patch-merge-key", "")
    if merged.get("x-kubernetes-map-type") == "atomic":
        result.atomic = True
    return result


def _shape(node: Object, name: str) -> Type:
    kind = node.get("type", "any")
    if "properties" in node or (
        kind == "object" and name and name not in _OPEN and "additionalProperties" not in node
    ):
        result = Type("struct", name.rpartition(".")[2])
        if "." in name:
            result.package = name.split(".")[-2]
        result.required = frozenset(node.get("required", ()))
        properties = node.get("properties", {})  # none: an empty struct, such as a CRD's subresource status
        result.resolve = lambda: _fields(name, properties)
        return result
    if kind == "object" and "additionalProperties" in node:
        result = Type("map")
        result.item = _build(node["additionalProperties"])
        return result
    if kind == "array":
        result = Type("list")
        result.item = _build(node["items"])
        result.list_type = node.get("x-kubernetes-list-type", "atomic")
        result.keys = tuple(node.get("x-kubernetes-list-map-keys", ()))
        result.atomic = result.list_type == "atomic"
        return result
    if kind == "string" and node.get("format") == "byte":
        return Type("bytes")
    return Type("any" if kind == "object" else kind)


_resolved: dict[str, dict[str, Type]] = {}


def _fields(name: str, properties: Object) -> dict[str, Type]:
    """Return the fields of a struct, shared by every place that holds it."""
    if name not in _resolved:
        fields = _resolved[name] = {field: _build(node) for field, node in properties.items()}
        for field in facts.droppable(name):
            if field in fields:
                fields[field].keeps_zero = False
        for field in facts.always(name):
            if field in fields:
                fields[field].always = True
    return _resolved[name]
