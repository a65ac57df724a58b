"""search: the best objects for what a person typed; one answer."""

from __future__ import annotations

from pybernetes.tools.dashboard.live._channel import Channel

_MOST = 50


async def run(channel: Channel) -> None:
    """Send what was found, and how much of the cluster has been looked at."""
    feed = channel.user.search
    hits = feed.index.search(channel.text("text"), _MOST)
    await channel.send(
        {
            "hits": [[*hit.key, hit.field, hit.text] for hit in hits],
            "objects": len(feed.index),
            "ready": feed.ready,
            "unread": feed.unread,
        }
    )


RUN = run
