"""What a server behind this one says about itself: its resources, and its OpenAPI documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from pybernetes.api.schema.decode import json_name
from pybernetes.control_plane.apiserver.discovery.discovery import AGGREGATED_TYPE
from pybernetes.lib.http.client import RequestFailed
from pybernetes.lib.http.messages import Reply

Ask = Callable[[str, str], Awaitable[Reply]]  # a path, and what is accepted
Rows = list[dict[str, Any]]


class Unusable(Exception):
    """The server does not answer as an API server does; the text says how."""


# What is in a row, and of what type; a list holds what it shows.
_KIND = {"group": str, "version": str, "kind": str}
_SUBRESOURCE = {"subresource": str, "responseKind": _KIND, "acceptedTypes": [_KIND], "verbs": [str]}
_ROW = {
    "resource": str, "responseKind": _KIND, "scope": str, "singularResource": str, "verbs": [str],
    "shortNames": [str], "categories": [str], "subresources": [_SUBRESOURCE],
}  # fmt: skip
_GROUPS = [{"metadata": {"name": str}, "versions": [{"version": str, "resources": [_ROW]}]}]
_LEGACY_ROWS = [
    {
        "name": str, "singularName": str, "namespaced": bool, "group": str, "version": str, "kind": str,
        "verbs": [str], "shortNames": [str], "categories": [str],
    }
]  # fmt: skip
_MOST_BYTES = 16 << 20


@dataclass(slots=True)
class Said:
    """What one version of one group is, in the server's own words."""

    resources: Rows = field(default_factory=list)  # rows of aggregated discovery
    v3: dict[str, Any] | None = None
    v2: dict[str, Any] | None = None


async def read(ask: Ask, group: str, version: str) -> Said:
    """Ask for everything; Unusable if even the list of resources cannot be had."""
    legacy = _json(await ask(f"/apis/{group}/{version}", "application/json"))
    if not isinstance(legacy.get("resources"), list):
        raise Unusable(f"/apis/{group}/{version} is no list of resources")
    listed = from_legacy(typed(_LEGACY_ROWS, legacy["resources"]), group, version)
    rows = await _optional(ask, "/apis", f"{AGGREGATED_TYPE},application/json")
    said = Said(_from_aggregated(rows or {}, group, version) or listed)
    said.v3 = await _optional(ask, f"/openapi/v3/apis/{group}/{version}", "application/json")
    v2 = await _optional(ask, "/openapi/v2", "application/json")
    if v2 is not None and all(isinstance(v2.get(part) or {}, dict) for part in ("paths", "definitions")):
        said.v2 = v2
    return said


def typed(shape: Any, value: Any) -> Any:
    """Return a value with the fields that a shape has and nothing else; Unusable if one is of another type.

    It is shown to every client of this server, as it is.
    """
    if isinstance(shape, dict):
        _require(isinstance(value, dict), value)
        return {key: typed(inner, value[key]) for key, inner in shape.items() if value.get(key) is not None}
    if isinstance(shape, list):
        _require(isinstance(value, list), value)
        return [typed(shape[0], item) for item in value]
    _require(isinstance(value, shape), value)
    return value


def _require(fits: bool, value: Any) -> None:
    if not fits:
        raise Unusable(f"json: cannot unmarshal {json_name(value)}")


async def _optional(ask: Ask, path: str, accepted: str) -> dict[str, Any] | None:
    try:
        return _json(await ask(path, accepted))
    except (Unusable, RequestFailed):
        return None


def _json(reply: Reply) -> dict[str, Any]:
    if not 200 <= reply.status < 300:
        raise Unusable(f"bad status: {reply.status}")
    if len(reply.body) > _MOST_BYTES:
        raise Unusable("the document is too large")
    try:
        value = orjson.loads(reply.body)
    except ValueError as error:
        raise Unusable(str(error)) from None
    if not isinstance(value, dict):
        raise Unusable("no JSON object")
    return value


def _from_aggregated(document: dict[str, Any], group: str, version: str) -> Rows:
    if document.get("kind") != "APIGroupDiscoveryList":
        return []
    try:
        items = typed(_GROUPS, document.get("items") or [])
    except Unusable:
        return []
    for item in items:
        if item.get("metadata", {}).get("name") == group:
            for served in item.get("versions", ()):
                if served.get("version") == version:
                    return served.get("resources", [])
    return []


def from_legacy(resources: Rows, group: str, version: str) -> Rows:
    """Return rows of aggregated discovery from those of a list of resources."""
    rows: dict[str, dict[str, Any]] = {}
    for resource in resources:
        plural, _, part = resource.get("name", "").partition("/")
        kind = {
            "group": resource.get("group") or group, "version": resource.get("version") or version,
            "kind": resource.get("kind", ""),
        }  # fmt: skip
        if part:
            below = {"subresource": part, "responseKind": kind, "verbs": resource.get("verbs") or []}
            rows.setdefault(plural, {"resource": plural}).setdefault("subresources", []).append(below)
            continue
        row = rows.setdefault(plural, {"resource": plural})
        row |= {
            "responseKind": kind,
            "scope": "Namespaced" if resource.get("namespaced") else "Cluster",
            "singularResource": resource.get("singularName", ""),
            "verbs": resource.get("verbs") or [],
        }
        row |= {key: resource[key] for key in ("shortNames", "categories") if resource.get(key)}
    return [row for row in rows.values() if "responseKind" in row]
