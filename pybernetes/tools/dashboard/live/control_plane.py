"""control_plane: the components with the members of etcd, and the service levels of the API server; again once in a while."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.tools.dashboard import control_plane
from pybernetes.tools.dashboard.live._channel import Channel

# A page of metrics has megabytes, and what it tells of changes slowly.
_ASK_SECONDS = 60.0
_NAMESPACE = "kube-system"
_STATUSES = "/api/v1/componentstatuses"


async def run(channel: Channel) -> None:
    """Send what the user may read of it while the page is open."""
    while True:
        listed, metrics, checks = await asyncio.gather(
            _components(channel), _text(channel, "/metrics"), _text(channel, "/metrics/slis")
        )
        levels = await asyncio.to_thread(control_plane.service_levels, metrics)
        await channel.send(
            {"components": listed, "levels": levels, "availability": control_plane.availability(checks)}
        )
        await asyncio.sleep(_ASK_SECONDS)


async def _components(channel: Channel) -> list[dict[str, Any]]:
    try:
        listed = await channel.user.client.list(PODS, _NAMESPACE, labels=control_plane.COMPONENTS)
    except (StatusError, OSError):
        return []
    components = control_plane.components(listed.items)
    if control_plane.has_store(components):
        return components
    return control_plane.members_elsewhere(listed.items, await _statuses(channel)) + components


async def _statuses(channel: Channel) -> list[Any]:
    """Return what the API server says of the parts that it depends on; nothing if the user may not read it."""
    try:
        # Not by the client, which passes on the server's warning that these are an old kind.
        return list(orjson.loads(await _text(channel, _STATUSES) or "{}").get("items") or ())
    except (ValueError, AttributeError, TypeError):
        return []


async def _text(channel: Channel, path: str) -> str:
    """Return a page of the API server; empty if the user may not read it."""
    try:
        reply = await channel.user.transport.exchange("GET", path, "", b"", channel.user.client.headers)
    except OSError:
        return ""
    return reply.body.decode(errors="replace") if reply.status == 200 else ""


RUN = run
