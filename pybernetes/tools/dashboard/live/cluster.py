"""cluster: the nodes with what is asked of them and used, the health of the control plane, and who leads."""

from __future__ import annotations

import asyncio
from typing import Any

from pybernetes.api import quantity
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import LEASES
from pybernetes.tools.dashboard.live._channel import Channel

# What is used and how healthy servers are cannot be watched: it is asked for while a page shows it, as often as
# metrics-server itself asks.
_ASK_SECONDS = 15.0
# Pods come and go in crowds: the page gets the sums at most that often.
_PAUSE_SECONDS = 0.5
_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
_LEADING = ("kube-scheduler", "kube-controller-manager", "cloud-controller-manager")


async def run(channel: Channel) -> None:
    """Send the nodes whenever they, or what is asked of them, change, and the rest once in a while."""
    asking = asyncio.ensure_future(_ask(channel))
    loads = channel.user.search.loads
    try:
        while True:
            version = loads.version
            await channel.send({"nodes": loads.nodes(), "ready": channel.user.search.ready})
            await asyncio.wait(
                (waiting := asyncio.ensure_future(loads.changed(version)), asking),
                return_when=asyncio.FIRST_COMPLETED,
            )
            waiting.cancel()
            if asking.done():
                asking.result()  # the page is gone
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def _ask(channel: Channel) -> None:
    while True:
        usage, health, leaders = await asyncio.gather(_usage(channel), _health(channel), _leaders(channel))
        await channel.send({"usage": usage, "health": health, "leaders": leaders})
        await asyncio.sleep(_ASK_SECONDS)


async def _usage(channel: Channel) -> dict[str, Any] | None:
    """Return what each node uses; None without a metrics-server, or the right to ask it."""
    try:
        listed = await channel.user.client.call("GET", _METRICS)
        return {
            item["metadata"]["name"]: {
                "cpu": quantity.milli(item["usage"].get("cpu", 0)),
                "memory": quantity.integer(item["usage"].get("memory", 0)),
            }
            for item in listed.get("items") or ()
        }
    except (StatusError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


async def _health(channel: Channel) -> dict[str, Any]:
    """Return what the API server says of itself, check by check."""
    try:
        reply = await channel.user.transport.exchange(
            "GET", "/readyz", "verbose", b"", channel.user.client.headers
        )
    except OSError as error:
        return {"ok": False, "message": str(error), "checks": []}
    text = reply.body.decode(errors="replace")
    return {
        "ok": reply.status == 200,
        "message": "" if reply.status == 200 else text[:300],
        "checks": checks(text),
    }


def checks(text: str) -> list[tuple[str, bool]]:
    """Return the checks of a verbose answer: ``[+]etcd ok``, ``[-]ping failed: …``."""
    lines = (line for line in text.splitlines() if line.startswith(("[+]", "[-]")))
    return [(line[3:].partition(" ")[0], line[1] == "+") for line in lines]


async def _leaders(channel: Channel) -> list[dict[str, str]]:
    """Return who leads each of the components that elect one."""
    try:
        listed = await channel.user.client.list(LEASES, "kube-system")
    except (StatusError, OSError):
        return []
    return [
        {"name": lease["metadata"]["name"], "holder": spec.get("holderIdentity", ""), "renewed": spec.get("renewTime", "")}
        for lease in listed.items
        if lease["metadata"]["name"] in _LEADING and isinstance(spec := lease.get("spec"), dict)
    ]  # fmt: skip


RUN = run
