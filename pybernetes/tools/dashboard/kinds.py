"""Which kinds a cluster has, custom ones included, as its discovery tells."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import Ref

# The same objects are shown elsewhere.
_TWICE = frozenset(("events.events.k8s.io",))


class Kind(NamedTuple):
    """A kind that can be listed and watched, and how people call it."""

    ref: Ref
    short_names: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as the pages get it."""
        return {
            **self.ref._asdict(), "resource": str(self.ref), "shortNames": self.short_names, "verbs": self.verbs,
            "subresources": self.subresources,
        }  # fmt: skip


async def kinds(client: Client) -> list[Kind]:
    """Return every kind that can be listed and watched, in the version that the server prefers."""
    groups = (await client.call("GET", "/apis")).get("groups") or []
    versions = ["v1", *(group["preferredVersion"]["groupVersion"] for group in groups)]
    parts = await asyncio.gather(*(_of_version(client, version) for version in versions))
    return sorted(kind for part in parts for kind in part if str(kind.ref) not in _TWICE)


async def _of_version(client: Client, api_version: str) -> list[Kind]:
    """Return the kinds of a version; none if whoever serves it cannot be reached."""
    group, _, version = api_version.rpartition("/")
    try:
        listed = await client.call("GET", f"/apis/{api_version}" if group else f"/api/{api_version}")
    except StatusError:
        return []
    resources = listed.get("resources") or ()
    below: dict[str, list[str]] = {}
    for resource in resources:
        name, slash, subresource = resource["name"].partition("/")
        if slash:
            below.setdefault(name, []).append(subresource)
    return [
        Kind(
            Ref(group, version, resource["name"], resource["kind"], resource["namespaced"]),
            tuple(resource.get("shortNames") or ()),
            tuple(resource["verbs"]),
            tuple(below.get(resource["name"], ())),
        )
        for resource in resources
        if "/" not in resource["name"] and {"list", "watch"} <= set(resource.get("verbs") or ())
    ]
