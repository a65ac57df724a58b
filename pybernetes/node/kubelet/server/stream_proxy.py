"""exec, attach and port-forward: the client's connection joined to that of the runtime's streaming server.

What the runtime understands goes through byte by byte. Two things it does not: version 5 of the WebSocket channels, in
which input can end, becomes SPDY; and SPDY inside of a WebSocket, as kubectl forwards ports, is taken out of it.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from pybernetes.lib.http import spdy
from pybernetes.node.kubelet.server.http import Problem, Request
from pybernetes.node.kubelet.server.websocket import WebSocket, protocols

V5 = "v5.channel.k8s.io"
TUNNEL = "SPDY/3.1+portforward.k8s.io"
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
_SKIPPED = ("host", "connection", "upgrade", "authorization", "content-length", "x-forwarded-for")
_READ = 65536
_DRAIN_SECONDS = 1.0


async def join(request: Request, url: str, *, streams: dict[str, bool]) -> None:
    """Joins a request to a streaming address; ``streams`` says which of stdin, stdout, stderr and tty there are."""
    offered = protocols(request) if request.upgrade == "websocket" else []
    if V5 in offered:
        await _version_5(request, url, streams)
    elif TUNNEL in offered:
        await _tunnel(request, url)
    elif request.upgrade:
        await _relay(request, url)
    else:
        raise Problem(400, "you must request an upgrade: the connection is to become a WebSocket or SPDY")


async def _open(
    method: str, url: str, headers: list[tuple[str, str]]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
    """Asks for the upgrade; gives the connection and the head of the answer."""
    parts = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError as error:
        raise Problem(500, f"the runtime's streaming server cannot be reached: {error}") from None
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    lines = [f"{method} {target} HTTP/1.1", f"Host: {parts.netloc}", "Connection: Upgrade"]
    lines += [f"{name}: {value}" for name, value in headers]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, OSError):
        writer.close()
        raise Problem(500, "the runtime's streaming server ended the connection") from None
    return reader, writer, head


async def _refused(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> Problem:
    status = int(head.split(b" ", 2)[1])
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            body = await reader.read(4096)
    except TimeoutError:
        body = b""
    writer.close()
    return Problem(status, body.decode(errors="replace") or f"the runtime answered {status}")


async def _relay(request: Request, url: str) -> None:
    headers = [(name, value) for name, value in request.headers.items() if name not in _SKIPPED]
    headers.append(("Upgrade", request.headers["upgrade"]))
    reader, writer, head = await _open(request.method, url, headers)
    if not head.startswith(b"HTTP/1.1 101"):
        raise await _refused(reader, writer, head)
    client = request.connection
    client.writer.write(head)
    await _both(_pump(client.reader, writer), _pump(reader, client.writer))
    writer.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(_READ):
            target.write(data)
            await target.drain()
    except OSError:
        pass


async def _both(outwards: object, inwards: object) -> None:
    """Runs two directions until one of them ends, and lets the other send what it still has."""
    tasks = [asyncio.ensure_future(outwards), asyncio.ensure_future(inwards)]  # type: ignore[call-overload]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(tasks, timeout=_DRAIN_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _tunnel(request: Request, url: str) -> None:
    headers = [("Upgrade", "SPDY/3.1"), ("X-Stream-Protocol-Version", "portforward.k8s.io")]
    reader, writer, head = await _open("POST", url, headers)
    if not head.startswith(b"HTTP/1.1 101"):
        raise await _refused(reader, writer, head)
    socket = await WebSocket.accept(request, TUNNEL)

    async def outwards() -> None:
        while (message := await socket.receive()) is not None:
            writer.write(message)
            await writer.drain()

    async def inwards() -> None:
        while data := await reader.read(_READ):
            await socket.send(data)

    await _both(outwards(), inwards())
    await socket.close()
    writer.close()


async def _version_5(request: Request, url: str, streams: dict[str, bool]) -> None:
    headers = [("Upgrade", "SPDY/3.1"), ("X-Stream-Protocol-Version", "v4.channel.k8s.io")]
    reader, writer, head = await _open("POST", url, headers)
    if not head.startswith(b"HTTP/1.1 101"):
        raise await _refused(reader, writer, head)
    runtime = spdy.Connection(reader, writer)
    running = asyncio.create_task(runtime.run())
    try:
        numbers = {ERROR: "error"}
        if streams["stdin"]:
            numbers[STDIN] = "stdin"
        if streams["stdout"]:
            numbers[STDOUT] = "stdout"
        if streams["stderr"] and not streams["tty"]:
            numbers[STDERR] = "stderr"
        if streams["tty"]:
            numbers[RESIZE] = "resize"
        opened = {number: await runtime.open({"streamType": name}) for number, name in numbers.items()}
        socket = await WebSocket.accept(request, V5)
        await _channels(socket, opened)
        await socket.close()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        runtime.close()


async def _channels(socket: WebSocket, opened: dict[int, spdy.Stream]) -> None:
    """Messages of the WebSocket to and from the streams, until the process has ended or the client left."""

    async def outwards(number: int) -> None:
        while data := await opened[number].read():
            await socket.send(bytes((number,)) + data)

    async def inwards() -> None:
        while (message := await socket.receive()) is not None:
            if not message:
                continue
            number, data = message[0], message[1:]
            if number == CLOSE and data and data[0] in opened:
                await opened[data[0]].end()
            elif number in (STDIN, RESIZE) and number in opened and data:
                await opened[number].write(data)

    outputs = [
        asyncio.ensure_future(outwards(number)) for number in (STDOUT, STDERR, ERROR) if number in opened
    ]
    incoming = asyncio.ensure_future(inwards())
    finished = asyncio.ensure_future(asyncio.gather(*outputs))
    try:
        await asyncio.wait((incoming, finished), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (*outputs, incoming):
            task.cancel()
        await asyncio.gather(*outputs, incoming, finished, return_exceptions=True)
