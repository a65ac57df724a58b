"""What a server behind this one says about itself: its resources, and its OpenAPI documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from pybernetes.control_plane.apiserver.discovery.discovery import AGGREGATED_TYPE
from pybernetes.lib.http.client import RequestFailed
from pybernetes.lib.http.messages import Reply

Ask = Callable[[str, str], Awaitable[Reply]]  # a path, and what is accepted
Rows = list[dict[str, Any]]


class Unusable(Exception):
    """The server does not answer as an API server does; the text says how."""


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
    rows = await _optional(ask, "/apis", f"{AGGREGATED_TYPE},application/json")
    said = Said(
        _from_aggregated(rows or {}, group, version) or from_legacy(legacy["resources"], group, version)
    )
    said.v3 = await _optional(ask, f"/openapi/v3/apis/{group}/{version}", "application/json")
    said.v2 = await _optional(ask, "/openapi/v2", "application/json")
    return said


async def _optional(ask: Ask, path: str, accepted: str) -> dict[str, Any] | None:
    try:
        return _json(await ask(path, accepted))
    except (Unusable, RequestFailed):
        return None


def _json(reply: Reply) -> dict[str, Any]:
    if not 200 <= reply.status < 300:
        raise Unusable(f"bad status: {reply.status}")
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
    for item in document.get("items") or ():
        if item.get("metadata", {}).get("name") == group:
            for served in item.get("versions") or ():
                if served.get("version") == version:
                    return served.get("resources") or []
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
