"""Moves the fields that client-side apply owned to the manager of server-side apply, once."""

from __future__ import annotations

import copy

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, read
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_KEEPER = "kubectl-last-applied"
_ATTEMPTS = 5
_RETRIED = "This is non-fatal and will be retried next time you apply. Error:"


def migrate(context: Context, info: Info, wanted: dict[str, Any], query: dict[str, Any]) -> None:
    """Move the ownership of fields after an object was applied; a failure is only a warning."""
    try:
        _keep_annotation(context, info, query)
    except ApiError as error:
        context.warn(
            f"Warning: failed to migrate {ANNOTATION} for Server-Side Apply. {_RETRIED} {error.message}"
        )
        return
    try:
        moved = _move(context, info, query)
    except ApiError as error:
        context.warn(
            f"Warning: server rejected managed fields migration to Server-Side Apply. {_RETRIED} {error.message}"
        )
        return
    if not moved:
        return
    try:
        info.object = context.client.patch(
            info.resource, info.namespace, info.name, wanted, "apply", query=query
        )
    except ApiError as error:
        context.warn(
            "Warning: failed to re-apply configuration after performing Server-Side Apply migration. "
            f"{_RETRIED} {error.message}"
        )


def _entries(info: Info) -> list[Object]:
    return (info.object.get("metadata") or {}).get("managedFields") or []


def _owns(entry: Object) -> bool:
    fields = (entry.get("fieldsV1") or {}).get("f:metadata") or {}
    return f"f:{ANNOTATION}" in (fields.get("f:annotations") or {})


def _keep_annotation(context: Context, info: Info, query: dict[str, Any]) -> None:
    """Give the annotation a manager of its own, so that it stays when the others let go of it."""
    text = read(info.object)
    if context.flags.field_manager != "kubectl" or text is None:
        return
    if any(entry.get("operation") == "Apply" and _owns(entry) for entry in _entries(info)):
        return
    metadata: Object = {"name": info.name, "annotations": {ANNOTATION: text}}
    if info.resource.namespaced:
        metadata["namespace"] = info.namespace
    value = {"apiVersion": info.resource.api_version, "kind": info.resource.kind, "metadata": metadata}
    kept = {key: item for key, item in query.items() if key != "force"}
    info.object = context.client.patch(
        info.resource, info.namespace, info.name, value, "apply", query={**kept, "fieldManager": _KEEPER}
    )


def _move(context: Context, info: Info, query: dict[str, Any]) -> bool:
    names = {
        entry["manager"] for entry in _entries(info) if entry.get("operation") == "Update" and _owns(entry)
    }
    kept = {key: item for key, item in query.items() if key != "force"}
    for attempt in range(_ATTEMPTS):
        before = _entries(info)
        after = before
        for name in sorted(names):
            after = upgraded(after, name, context.flags.field_manager)
        if after == before:
            return False
        patch = [
            {"op": "replace", "path": "/metadata/managedFields", "value": after},
            {
                "op": "replace",
                "path": "/metadata/resourceVersion",
                "value": info.object["metadata"].get("resourceVersion"),
            },
        ]
        try:
            info.object = context.client.patch(
                info.resource, info.namespace, info.name, patch, "json", query=kept
            )
            return True
        except ApiError as error:
            if error.reason != "Conflict" or attempt + 1 == _ATTEMPTS:
                raise
            info.object = context.client.get(info.resource, info.namespace, info.name)
    return False


def upgraded(entries: list[Object], old: str, new: str) -> list[Object]:
    """Return the entries with those of a client-side manager merged into that of the server-side one."""
    entries = copy.deepcopy(entries)

    def is_old(entry: Object) -> bool:
        return entry["manager"] == old and entry["operation"] == "Update" and not entry.get("subresource")

    def is_new(entry: Object) -> bool:
        return entry["manager"] == new and entry["operation"] == "Apply" and not entry.get("subresource")

    target = next((entry for entry in entries if is_new(entry)), None)
    if target is None:
        target = next((entry for entry in entries if is_old(entry)), None)
        if target is None:
            return entries
        target.update({"manager": new, "operation": "Apply"})
    for owned in entries:
        if is_old(owned) and owned.get("apiVersion") == target.get("apiVersion"):
            target["fieldsV1"] = _union(target.get("fieldsV1") or {}, owned.get("fieldsV1") or {})
            break
    return [entry for entry in entries if not is_old(entry)]


def _union(left: Object, right: Object) -> Object:
    union = dict(left)
    for key, value in right.items():
        union[key] = _union(union[key], value) if isinstance(union.get(key), dict) else value
    return union
