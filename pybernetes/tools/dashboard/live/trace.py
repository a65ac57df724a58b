"""trace: the steps of a pod's creation, as they happen; of a pod that is not there yet, too."""

from __future__ import annotations

from contextlib import aclosing

from pybernetes.tools.dashboard.live._channel import Channel
from pybernetes.tools.trace import reading


async def run(channel: Channel) -> None:
    """Send what is known of the creation whenever that is more, until the pod runs."""
    namespace, pod = channel.name("namespace"), channel.name("pod")
    async with aclosing(reading.follow(channel.user.client, namespace, pod)) as traces:  # type: ignore[type-var]
        async for trace in traces:
            await channel.send({"trace": trace.as_json()})


RUN = run
