"""What of a template is different in one cluster: operations of a JSON patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pybernetes.api.patch import json_patch
from pybernetes.api.resource import Object

# By these a federated object and what it stands for find each other.
FORBIDDEN = frozenset({"/metadata/namespace", "/metadata/name", "/metadata/generateName", "/kind"})
_OPERATIONS = ("add", "remove", "replace")
Operations = Sequence[Mapping[str, Any]]


def by_cluster(obj: Object) -> dict[str, Operations]:
    """Return the operations for every cluster that has some; ValueError if they cannot be."""
    result: dict[str, Operations] = {}
    for entry in (obj.get("spec") or {}).get("overrides") or ():
        cluster, operations = entry.get("clusterName", ""), entry.get("clusterOverrides") or ()
        if cluster in result:
            raise ValueError(f'cluster "{cluster}" appears more than once')
        paths: set[str] = set()
        for position, operation in enumerate(operations):
            path = operation.get("path", "")
            if path in FORBIDDEN or path in ("", "/metadata"):
                raise ValueError(f'override[{position}] for cluster "{cluster}" has an invalid path: {path}')
            if operation.get("op", "") not in ("", *_OPERATIONS):
                raise ValueError(
                    f'override[{position}] for cluster "{cluster}" has an invalid op: {operation["op"]}'
                )
            if path in paths:
                raise ValueError(f'path "{path}" appears more than once for cluster "{cluster}"')
            paths.add(path)
        result[cluster] = operations
    return result


def apply(obj: Object, operations: Operations) -> Object:
    """Return an object after operations, which replace unless they say otherwise; ValueError if one does not fit."""
    patch = [{**operation, "op": operation.get("op") or "replace"} for operation in operations]
    try:
        return json_patch.run(obj, patch)
    except json_patch.DoesNotApply as error:
        raise ValueError(str(error)) from None


def replace_value(obj: Object, path: str, values: Mapping[str, Any]) -> list[Object]:
    """Return the overrides of an object with one path set in the clusters of ``values`` and in no other."""
    kept = {
        cluster: [operation for operation in operations if operation.get("path") != path]
        for cluster, operations in by_cluster(obj).items()
    }
    for cluster, value in values.items():
        kept.setdefault(cluster, []).append({"path": path, "value": value})
    return [
        {"clusterName": cluster, "clusterOverrides": kept[cluster]}
        for cluster in sorted(kept)
        if kept[cluster]
    ]
