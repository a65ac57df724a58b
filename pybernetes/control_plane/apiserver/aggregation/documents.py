"""What a server behind this one says about itself: its resources, and its OpenAPI documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import orjson

from pybernetes.api.schema.decode import json_name
from pybernetes.api.text import json_reader
from pybernetes.control_plane.apiserver.discovery.discovery import AGGREGATED_TYPE
from pybernetes.control_plane.apiserver.openapi.protobuf import can_be_written
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.discarding import discard
from pybernetes.lib.http.client import RequestFailed
from pybernetes.lib.http.messages import Reply

Ask = Callable[[str, str], Awaitable[Reply]]  # a path, and what is accepted
Rows = list[dict[str, Any]]
Result = TypeVar("Result")
_JSON = "application/json"


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
_MOST_BYTES, _MOST_ROW_BYTES = 16 << 20, 1 << 20


@dataclass(slots=True)
class Said:
    """What one version of one group is, in the server's own words."""

    resources: Rows = field(default_factory=list)  # rows of aggregated discovery
    v3: bytes | None = None
    v2: bytes | None = None


async def read(ask: Ask, group: str, version: str) -> Said:
    """Ask for everything; Unusable if even the list of resources cannot be had.

    The server chooses how much it says, each time: it is read beside the event loop.
    """

    async def answer(path: str, accepted: str, most: int, read: Callable[[dict[str, Any]], Result]) -> Result:
        reply = await ask(path, accepted)
        return await off_loop.run(len(reply.body), _answered, reply, most, read)

    async def optional(
        path: str, accepted: str, most: int, read: Callable[[dict[str, Any]], Result]
    ) -> Result | None:
        try:
            return await answer(path, accepted, most, read)
        except (Unusable, RequestFailed):
            return None

    listed = await answer(
        f"/apis/{group}/{version}", _JSON, _MOST_ROW_BYTES, partial(_from_list, group=group, version=version)
    )
    rows = await optional(
        "/apis",
        f"{AGGREGATED_TYPE},{_JSON}",
        _MOST_ROW_BYTES,
        partial(_from_aggregated, group=group, version=version),
    )
    said = Said(rows or listed)
    said.v3 = await optional(f"/openapi/v3/apis/{group}/{version}", _JSON, _MOST_BYTES, orjson.dumps)
    said.v2 = await optional("/openapi/v2", _JSON, _MOST_BYTES, _mergeable)
    return said


def _answered(reply: Reply, most: int, read: Callable[[dict[str, Any]], Result]) -> Result:
    """Return what is read of an answer; Unusable if it is no JSON object, or a large one."""
    if not 200 <= reply.status < 300:
        raise Unusable(f"bad status: {reply.status}")
    if len(reply.body) > most:
        raise Unusable("the document is too large")
    try:
        value = json_reader.loads(reply.body)
    except json_reader.JsonError as error:
        raise Unusable(str(error)) from None
    if not isinstance(value, dict):
        raise Unusable("no JSON object")
    result = read(value)
    values = [value]
    del value
    discard(values)
    return result


def _mergeable(v2: dict[str, Any]) -> bytes | None:
    """Return a document of version 2 again, if it can be a part of ours: one server's must not break that of all."""
    parts = {part: v2.get(part) or {} for part in ("paths", "definitions")}
    if not all(isinstance(part, dict) for part in parts.values()) or not can_be_written(parts):
        return None
    return orjson.dumps(parts)


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


def _from_list(document: dict[str, Any], group: str, version: str) -> Rows:
    if not isinstance(document.get("resources"), list):
        raise Unusable(f"/apis/{group}/{version} is no list of resources")
    return from_legacy(typed(_LEGACY_ROWS, document["resources"]), group, version)


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
