"""Versions: of templates and overrides in the host, and of what became of them in a member.

What a member was given is remembered in a PropagatedVersion, so that a new leader need not write everything again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.kinds import CLUSTER_PROPAGATED_VERSIONS, PROPAGATED_VERSIONS


def digest(value: Any) -> str:
    """Return a short text that is another one for another value."""
    return hashlib.md5(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), usedforsecurity=False).hexdigest()


# What kubefed escapes in a text that it makes a version of.
_ESCAPED = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)


def _recorded_digest(value: Any) -> str:
    """Return the digest that kubefed records of a value: what it gave to members need not be written again by us."""
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    for char, escaped in _ESCAPED:
        text = text.replace(char, escaped)
    return hashlib.md5(text + b"\n", usedforsecurity=False).hexdigest()


def template_version(obj: Object) -> str:
    """Return the version of a federated object's template."""
    template = (obj.get("spec") or {}).get("template")
    return _recorded_digest(template) if template is not None else ""


def overrides_version(obj: Object) -> str:
    """Return the version of a federated object's overrides, of all clusters together."""
    spec = obj.get("spec")
    if spec is None:
        return ""
    overrides = spec.get("overrides")
    return _recorded_digest({"overrides": overrides and [_entry(entry) for entry in overrides]})


def _entry(entry: Object) -> Object:
    """Return the overrides of one cluster without what says nothing."""
    result: Object = {"clusterName": entry.get("clusterName", "")}
    if entry.get("clusterOverrides"):
        result["clusterOverrides"] = [_operation(operation) for operation in entry["clusterOverrides"]]
    return result


def _operation(operation: Mapping[str, Any]) -> Object:
    result: Object = {"path": operation.get("path", "")}
    if operation.get("op"):
        result["op"] = operation["op"]
    if operation.get("value") is not None:
        result["value"] = operation["value"]
    return result


def object_version(obj: Object) -> str:
    """Return the version of an object in a member: its generation, or else its resourceVersion."""
    meta = obj["metadata"]
    generation = meta.get("generation")
    return f"gen:{generation}" if generation else f"rv:{meta.get('resourceVersion', '')}"


def content(obj: Object) -> str:
    """Return a digest of what somebody wants of an object: all but its status, and what others note in its metadata."""
    kept = {name: value for name, value in obj.items() if name not in ("metadata", "status")}
    return digest([kept, obj["metadata"].get("labels")])


def record_name(federated: Ref, target: Ref, name: str) -> str:
    """Return the name of the object that remembers the versions of a federated one."""
    return f"{target.kind.lower()}-{name}"


def record_kind(federated: Ref) -> Ref:
    """Return the kind of that object."""
    return PROPAGATED_VERSIONS if federated.namespaced else CLUSTER_PROPAGATED_VERSIONS


def recorded(record: Object | None, obj: Object) -> dict[str, str]:
    """Return the version that every cluster was given of an object as it is now; nothing of an earlier one counts."""
    status = (record or {}).get("status") or {}
    if status.get("templateVersion") != template_version(obj):
        return {}
    if status.get("overridesVersion") != overrides_version(obj):
        return {}
    return {entry["clusterName"]: entry["version"] for entry in status.get("clusterVersions") or ()}


def record_status(obj: Object, clusters: Mapping[str, str]) -> Object:
    """Return what is to be remembered of an object that clusters have in some versions."""
    versions = [{"clusterName": name, "version": clusters[name]} for name in sorted(clusters)]
    return {
        "templateVersion": template_version(obj),
        "overridesVersion": overrides_version(obj),
        **({"clusterVersions": versions} if versions else {}),
    }
