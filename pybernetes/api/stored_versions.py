"""Objects as another API server may have stored them, in the form in which they are stored here.

Upstream reads every version that it knows, gives objects the defaults of today, and shows fields that Go always writes.
"""

from __future__ import annotations

from functools import lru_cache

from pybernetes.api import registry, schema
from pybernetes.api.older_versions._older_version import OlderVersion
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder, Type
from pybernetes.lib.discover import discover

# Kinds that are stored, but that no client can ask for.
_NEVER_SERVED = {("", "v1", "RangeAllocation"): "io.k8s.api.core.v1.RangeAllocation"}
_ZEROS = {
    "string": "", "boolean": False, "integer": 0, "number": 0, "quantity": "0", "bytes": None, "list": None, "map": None,
}  # fmt: skip


@lru_cache(maxsize=1)
def older_versions() -> dict[tuple[str, str], OlderVersion]:
    """Return every older version, by apiVersion and kind."""
    return {
        name: older
        for table in discover("pybernetes.api.older_versions", "OLDER").values()
        for name, older in table.items()
    }


@lru_cache(maxsize=1)
def _stored() -> dict[tuple[str, str], Resource]:
    """Return the built-in kinds in the versions that are stored."""
    return {
        (resource.api_version, resource.kind): resource
        for resource in registry.builtin()
        if resource.storage_version is None
    }


def message_name(group: str, version: str, kind: str) -> str:
    """Return the definition of a stored kind's protobuf message; KeyError if there is none."""
    if (group, version, kind) in _NEVER_SERVED:
        return _NEVER_SERVED[group, version, kind]
    older = older_versions().get((f"{group}/{version}", kind))
    if older is not None and older.definition:
        return older.definition
    if older is not None and not schema.has_message(group, version, kind):
        group, _, version = older.api_version.rpartition("/")
    return schema.definition_name(group, version, kind)


def adopt(obj: Object) -> Object:
    """Return an object that another API server stored as it would be stored here; ValueError if it makes no sense.

    A kind that is not built in is left as it is.
    """
    try:
        return _adopted(obj)
    except (
        AttributeError,
        KeyError,
        TypeError,
    ) as error:  # a conversion found something else than it looked for
        raise ValueError(f"it is no {obj.get('kind')} of {obj.get('apiVersion')}: {error}") from error


def _adopted(obj: Object) -> Object:
    name = (obj.get("apiVersion", ""), obj.get("kind", ""))
    older = older_versions().get(name)
    if older is not None:
        obj = older.convert(obj)
        name = (older.api_version, name[1])
    resource = _stored().get(name)
    if resource is None:
        return obj
    obj = Decoder().decode(resource.type, obj)
    obj["kind"], obj["apiVersion"] = resource.kind, resource.api_version
    obj.setdefault("metadata", {})
    if resource.default is not None:
        resource.default(obj)
    fill_zeros(obj, resource.type)
    return obj if older is None else older.complete(obj)


def fill_zeros(obj: Object, type_: Type) -> None:
    """Put the zeros into the object that Go writes although nobody gave them."""
    for name, field in type_.fields.items():
        held = obj.get(name)
        if held is None:
            if (field.always and field.kind in _ZEROS) or _null_time(name, field):
                obj[name] = _ZEROS.get(field.kind)
        elif field.kind == "struct":
            fill_zeros(held, field)
        elif field.kind in ("list", "map") and field.item is not None and field.item.kind == "struct":
            for item in held if field.kind == "list" else held.values():
                fill_zeros(item, field.item)


def _null_time(name: str, field: Type) -> bool:
    """Return whether Go writes a time as null when it is not set: where it is no pointer, and not that of the creation."""
    is_value = field.always or not field.keeps_zero
    return field.kind in ("time", "microtime") and is_value and name != "creationTimestamp"
