"""shell: a command in a container with a terminal, or the container's own process; the page types, and says how large it is."""

from __future__ import annotations

import asyncio
import codecs
from typing import Any

from pybernetes.client import pod_streams
from pybernetes.client.pod_streams import Process
from pybernetes.tools.dashboard.live._channel import Channel

# The best shell that the container has; programs are told what this terminal understands.
_SHELL = (
    "sh",
    "-c",
    "TERM=xterm-256color; export TERM; command -v bash >/dev/null 2>&1 && exec bash; exec sh",
)
_LARGEST = 1000


async def run(channel: Channel) -> None:
    """Begin, and carry both ways until the command or the page ends."""
    namespace, pod, container = channel.name("namespace"), channel.name("pod"), channel.text("container")
    width, height = _size(channel.list("size"))
    client = channel.user.client
    if channel.text("attach"):
        process = await pod_streams.attach(client, pod, namespace, container=container, stdin=True, tty=True)
    else:
        process = await pod_streams.execute(
            client, pod, namespace, _SHELL, container=container, stdin=True, tty=True
        )
    async with process:
        await process.resize(width, height)
        typing = asyncio.ensure_future(_type(channel, process))
        try:
            await _show(channel, process)
        finally:
            typing.cancel()
            await asyncio.gather(typing, return_exceptions=True)
        await channel.send({"code": process.exit_code})


async def _show(channel: Channel, process: Process) -> None:
    # A character may be in two parts.
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while (piece := await process.read()) is not None:
        if text := decoder.decode(piece[1]):
            await channel.send({"text": text})


async def _type(channel: Channel, process: Process) -> None:
    while True:
        said = await channel.said()
        if isinstance(said.get("text"), str):
            await process.write(said["text"].encode(errors="replace"))
        if isinstance(said.get("size"), list):
            await process.resize(*_size(said["size"]))


def _size(size: list[Any]) -> tuple[int, int]:
    """Return columns and rows; ValueError if no terminal is like that."""
    if len(size) != 2 or not all(type(number) is int and 0 < number <= _LARGEST for number in size):
        raise ValueError("size must be the columns and rows of a terminal")
    return size[0], size[1]


RUN = run
