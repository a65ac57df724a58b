"""port_forward: a port of this machine that leads to a port of a pod, for as long as the page keeps it."""

from __future__ import annotations

import asyncio

from pybernetes.client.pod_streams import Forwarder
from pybernetes.tools.dashboard.live._channel import Channel

_ADDRESS = "127.0.0.1"


async def run(channel: Channel) -> None:
    """Listen on loopback, say where, and forward until the page ends it."""
    if not channel.user.on_this_machine:
        raise ValueError("the dashboard does not run on your machine: its ports would be of no use to you")
    namespace, pod = channel.name("namespace"), channel.name("pod")
    port, local = _port(channel.text("port")), _port(channel.text("local") or "0")
    forwarder = Forwarder(channel.user.client, pod, namespace, port)
    try:
        await channel.send({"port": await forwarder.start(_ADDRESS, local)})
        await asyncio.Event().wait()
    finally:
        await forwarder.stop()


def _port(text: str) -> int:
    """Return a port that a page sent; ValueError if there is none like that."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise ValueError("port must be a number up to 65535")
    return int(text)


RUN = run
