"""exec, attach and port-forward: the client's connection joined to that of the runtime's streaming server.

What the runtime understands goes through byte by byte. Two things it does not: version 5 of the WebSocket channels, in
which input can end, becomes SPDY; and SPDY inside of a WebSocket, as kubectl forwards ports, is taken out of it.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from pybernetes.lib.http import spdy, websocket
from pybernetes.lib.http.client_connection import ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.dialer import direct
from pybernetes.lib.http.duplex import Duplex, first_of, splice
from pybernetes.lib.http.upgrade import Upgrade, switching_protocols, upgraded
from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.node.kubelet.server.request import HttpError, Request

V5 = b"v5.channel.k8s.io"
TUNNEL = b"SPDY/3.1+portforward.k8s.io"
STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
_OUTPUTS = (STDOUT, STDERR, ERROR)
_SKIPPED = (b"host", b"connection", b"upgrade", b"authorization", b"content-length", b"x-forwarded-for")
_DRAIN_SECONDS = 1.0
_REFUSAL_BYTES = 4096
Headers = list[tuple[bytes, bytes]]


async def join(request: Request, url: str, *, streams: dict[str, bool]) -> Upgrade:
    """Join a request to a streaming address; ``streams`` says which of stdin, stdout, stderr and tty there are."""
    offered = websocket.offered_protocols(request.headers) if request.upgrade == "websocket" else []
    if V5 in offered:
        return await _version_5(request, url, streams)
    if TUNNEL in offered:
        return await _tunnel(request, url)
    if request.upgrade:
        return await _as_it_is(request, url)
    raise HttpError(400, "you must request an upgrade: the connection is to become a WebSocket or SPDY")


async def _open(method: str, url: str, headers: Headers) -> tuple[ClientConnection, Headers]:
    """Ask the runtime for the upgrade; return the connection and the headers of the answer."""
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None
    try:
        runtime = await direct(ClientConnection, parts.hostname, parts.port)
    except OSError as error:
        raise HttpError(500, f"the runtime's streaming server cannot be reached: {error}") from None
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    lines = [(b"Host", parts.netloc.encode()), (b"Connection", b"Upgrade"), *headers]
    try:
        reply = await runtime.open(request_bytes(method, target, lines))
    except Disconnected:
        raise HttpError(500, "the runtime's streaming server ended the connection") from None
    if reply.status != 101:
        raise HttpError(reply.status, await _refusal(runtime) or f"the runtime answered {reply.status}")
    return runtime, reply.header_list


async def _refusal(runtime: ClientConnection) -> str:
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            return (await runtime.read())[:_REFUSAL_BYTES].decode(errors="replace")
    except (TimeoutError, Disconnected):
        return ""
    finally:
        runtime.close()


async def _as_it_is(request: Request, url: str) -> Upgrade:
    headers = [(name, value) for name, value in request.headers.items() if name not in _SKIPPED]
    headers.append((b"Upgrade", request.headers[b"upgrade"]))
    runtime, answered = await _open(request.method, url, headers)
    head = switching_protocols(answered)
    return upgraded(head, lambda client: splice(client, runtime, _DRAIN_SECONDS), abandon=runtime.close)


def _accepted(request: Request, protocol: bytes) -> bytes:
    """Return the head of the answer that makes the client's connection a WebSocket."""
    key = request.headers.get(b"sec-websocket-key")
    if not key:
        raise HttpError(400, "the request has no Sec-WebSocket-Key")
    return switching_protocols(websocket.accept_headers(key, protocol))


async def _tunnel(request: Request, url: str) -> Upgrade:
    head = _accepted(request, TUNNEL)
    headers = [(b"Upgrade", b"SPDY/3.1"), (b"X-Stream-Protocol-Version", b"portforward.k8s.io")]
    runtime, _ = await _open("POST", url, headers)

    async def serve(client: Duplex) -> None:
        socket = WebSocket(client, TUNNEL.decode(), client=False)

        async def outwards() -> None:
            while (message := await socket.receive()) is not None:
                runtime.write(message)
                await runtime.drain()

        async def inwards() -> None:
            while data := await runtime.read():
                await socket.send(data)

        try:
            await first_of(outwards(), inwards(), grace=_DRAIN_SECONDS)
        finally:
            socket.close()
            runtime.close()

    return upgraded(head, serve, abandon=runtime.close)


async def _version_5(request: Request, url: str, streams: dict[str, bool]) -> Upgrade:
    head = _accepted(request, V5)
    headers = [(b"Upgrade", b"SPDY/3.1"), (b"X-Stream-Protocol-Version", b"v4.channel.k8s.io")]
    raw, _ = await _open("POST", url, headers)

    async def serve(client: Duplex) -> None:
        socket = WebSocket(client, V5.decode(), client=False)
        runtime = spdy.Connection(raw)
        running = asyncio.create_task(runtime.run())
        try:
            opened = {
                number: await runtime.open({"streamType": name}, is_read=number in _OUTPUTS)
                for number, name in _stream_types(streams).items()
            }
            if not await _channels(socket, opened):
                socket.close(websocket.INTERNAL_ERROR)
        finally:
            socket.close()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            runtime.close()

    return upgraded(head, serve, abandon=raw.close)


def _stream_types(streams: dict[str, bool]) -> dict[int, str]:
    """Return the streams to open, by the numbers of their channels."""
    types = {ERROR: "error"}
    if streams["stdin"]:
        types[STDIN] = "stdin"
    if streams["stdout"]:
        types[STDOUT] = "stdout"
    if streams["stderr"] and not streams["tty"]:
        types[STDERR] = "stderr"
    if streams["tty"]:
        types[RESIZE] = "resize"
    return types


async def _channels(socket: WebSocket, opened: dict[int, spdy.Stream]) -> bool:
    """Carry messages to and from the streams, until the process has ended or the client left.

    Return whether it is so: a runtime that goes away says nothing about how the process ended.
    """
    done = False

    async def outwards(number: int) -> None:
        nonlocal done
        while data := await opened[number].read():
            done = done or number == ERROR
            await socket.send(bytes((number,)) + data)

    async def all_outwards() -> None:
        outputs = [number for number in _OUTPUTS if number in opened]
        await asyncio.gather(*(outwards(number) for number in outputs))

    async def inwards() -> None:
        nonlocal done
        while (message := await socket.receive()) is not None:
            if not message:
                continue
            number, data = message[0], message[1:]
            if number == CLOSE and data and data[0] in opened:
                await opened[data[0]].end()
            elif number in (STDIN, RESIZE) and number in opened and data:
                await opened[number].write(data)
        done = True

    await first_of(all_outwards(), inwards())
    return done
