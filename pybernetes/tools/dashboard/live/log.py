"""log: what a container writes, as it comes."""

from __future__ import annotations

import codecs

from pybernetes.client.request_options import query_text
from pybernetes.tools.dashboard.live._channel import Channel


async def run(channel: Channel) -> None:
    """Send the last lines of a container, and then what it writes, until it ends."""
    path = channel.path()
    if not path.endswith("/log"):
        raise ValueError("that is not the path of a log")
    lines = channel.text("tail") or "1000"
    if not lines.isdigit():
        raise ValueError("tail must be a number")
    query = query_text(
        container=channel.text("container"), tailLines=lines, follow="" if channel.text("previous") else "true",
        previous=channel.text("previous") and "true", timestamps=channel.text("timestamps") and "true",
    )  # fmt: skip
    stream = await channel.user.client.stream(path, query)
    # A character may be in two parts.
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        while part := await stream.read():
            await channel.send({"text": decoder.decode(part)})
    finally:
        stream.close()


RUN = run
