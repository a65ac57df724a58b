"""kinds: what the cluster has, for the menu; one answer."""

from __future__ import annotations

from pybernetes.tools.dashboard.kinds import kinds
from pybernetes.tools.dashboard.live._channel import Channel


async def run(channel: Channel) -> None:
    """Send every kind that can be listed."""
    await channel.send({"kinds": [kind.as_json() for kind in await kinds(channel.user.client)]})


RUN = run
