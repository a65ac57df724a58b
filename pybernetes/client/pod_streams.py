"""Streams into pods: logs, exec, attach and port-forward.

exec and attach speak ``v5.channel.k8s.io``: each WebSocket message begins with the number of its channel.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import urlencode

import orjson

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError, from_answer
from pybernetes.client.refs import PODS, path_of
from pybernetes.client.websocket import connect
from pybernetes.lib.http.websocket import WebSocketError
from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.lib.network import listener

STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)
_CLOSE = 255
_EXEC_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_PORT_PROTOCOLS = ("v4.channel.k8s.io",)


async def logs(
    client: Client,
    name: str,
    namespace: str,
    *,
    container: str = "",
    follow: bool = False,
    previous: bool = False,
    timestamps: bool = False,
    tail_lines: int | None = None,
    since_seconds: int | None = None,
    since_time: str = "",
    limit_bytes: int | None = None,
) -> AsyncIterator[bytes]:
    """Yield what a container wrote, in pieces as they come."""
    options: dict[str, Any] = {
        "container": container, "tailLines": tail_lines, "sinceSeconds": since_seconds, "sinceTime": since_time,
        "limitBytes": limit_bytes, "follow": "true" if follow else "", "previous": "true" if previous else "",
        "timestamps": "true" if timestamps else "",
    }  # fmt: skip
    query = urlencode({key: value for key, value in options.items() if value not in ("", None)})
    body = await client.stream(path_of(PODS, namespace, name, "log"), query)
    try:
        while data := await body.read():
            yield data
    finally:
        body.close()


class Process:
    """A command in a container, or the container's own: ``read`` what it writes, ``write`` what it reads."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self.status: dict[str, Any] | None = None  # how it ended

    async def read(self) -> tuple[int, bytes] | None:
        """Return the next output as channel (STDOUT or STDERR) and bytes; None when it has ended."""
        while True:
            message = await self._socket.receive()
            if message is None:
                return None
            if not message:
                continue
            channel, data = message[0], message[1:]
            if channel == ERROR:
                self.status = _status(data)
            elif channel in (STDOUT, STDERR) and data:
                return channel, data

    async def write(self, data: bytes) -> None:
        """Send to its standard input."""
        await self._socket.send(bytes((STDIN,)) + data)

    async def close_stdin(self) -> None:
        """End its standard input; only version 5 of the protocol can."""
        if not self._socket.protocol.startswith("v5."):
            raise WebSocketError("the server cannot be told that the input has ended")
        await self._socket.send(bytes((_CLOSE, STDIN)))

    async def resize(self, width: int, height: int) -> None:
        """Tell it the size of the terminal."""
        await self._socket.send(bytes((RESIZE,)) + orjson.dumps({"Width": width, "Height": height}))

    async def communicate(self, data: bytes | None = None) -> tuple[bytes, bytes]:
        """Send input if there is any, and return all output and all errors."""
        if data is not None:
            await self.write(data)
            await self.close_stdin()
        output: dict[int, list[bytes]] = {STDOUT: [], STDERR: []}
        while (piece := await self.read()) is not None:
            output[piece[0]].append(piece[1])
        return b"".join(output[STDOUT]), b"".join(output[STDERR])

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it runs. StatusError if it did not even start."""
        if self.status is None:
            return None
        if self.status.get("status") == "Success":
            return 0
        if self.status.get("reason") == "NonZeroExitCode":
            for cause in (self.status.get("details") or {}).get("causes") or ():
                if cause.get("reason") == "ExitCode":
                    return int(cause["message"])
        raise from_answer(500, self.status)

    def close(self) -> None:
        """Let go of it."""
        self._socket.close()

    async def __aenter__(self) -> Process:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()


def _status(data: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = None
    if isinstance(value, dict):
        return value
    return {"kind": "Status", "status": "Failure", "message": data.decode(errors="replace"), "code": 500}


async def execute(
    client: Client,
    name: str,
    namespace: str,
    command: Sequence[str],
    *,
    container: str = "",
    stdin: bool = False,
    stderr: bool = True,
    tty: bool = False,
) -> Process:
    """Run a command in a container."""
    return await _process(client, name, namespace, "exec", command, container, stdin, stderr and not tty, tty)


async def attach(
    client: Client, name: str, namespace: str, *, container: str = "", stdin: bool = False, stderr: bool = True,
    tty: bool = False,
) -> Process:  # fmt: skip
    """Connect to the process that a container runs."""
    return await _process(client, name, namespace, "attach", (), container, stdin, stderr and not tty, tty)


async def _process(
    client: Client, name: str, namespace: str, action: str, command: Sequence[str], container: str, stdin: bool,
    stderr: bool, tty: bool,
) -> Process:  # fmt: skip
    query = [("command", word) for word in command] + ([("container", container)] if container else [])
    query += [(key, "true") for key, asked in (("stdin", stdin), ("stderr", stderr), ("tty", tty)) if asked]
    query.append(("stdout", "true"))
    path = path_of(PODS, namespace, name, action)
    return Process(await _connect(client, path, urlencode(query), _EXEC_PROTOCOLS))


async def _connect(client: Client, path: str, query: str, protocols: tuple[str, ...]) -> WebSocket:
    return await connect(client.transport, path, query, protocols, client.headers)


class Forward:
    """A connection to one port of a pod."""

    def __init__(self, socket: WebSocket, port: int) -> None:
        self._socket, self.port = socket, port
        self._announced = {0: False, 1: False}

    async def read(self) -> bytes:
        """Return what the pod sent; nothing at all at the end. StatusError if nobody listens there."""
        while True:
            message = await self._socket.receive()
            if message is None:
                return b""
            if not message or message[0] not in self._announced:
                continue
            channel, data = message[0], message[1:]
            if not self._announced[channel]:  # each channel begins with the number of the port
                self._announced[channel] = True
                data = data[2:]
            if channel == 1 and data:
                raise StatusError(500, "InternalError", data.decode(errors="replace").strip())
            if channel == 0 and data:
                return data

    async def write(self, data: bytes) -> None:
        """Send to the pod."""
        await self._socket.send(b"\0" + data)

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


async def port_forward(client: Client, name: str, namespace: str, port: int) -> Forward:
    """Open a connection to a port of a pod; one for each connection that is forwarded."""
    path = path_of(PODS, namespace, name, "portforward")
    return Forward(await _connect(client, path, f"ports={port}", _PORT_PROTOCOLS), port)


class Forwarder:
    """Listens on this machine and forwards every connection to a port of a pod."""

    def __init__(self, client: Client, name: str, namespace: str, port: int) -> None:
        self._client, self._name, self._namespace, self._port = client, name, namespace, port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen; return the port."""
        self._server = await asyncio.start_server(self._accepted, host, port)
        return self._server.sockets[0].getsockname()[1]

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._forward(reader, writer)
        except (OSError, StatusError):
            pass  # the client sees a closed connection
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        forward = await port_forward(self._client, self._name, self._namespace, self._port)

        async def outwards() -> None:
            while data := await reader.read(65536):
                await forward.write(data)

        sending = asyncio.ensure_future(outwards())
        try:
            while data := await forward.read():
                writer.write(data)
                await writer.drain()
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            forward.close()

    async def stop(self) -> None:
        """Stop listening and end every connection."""
        if self._server is not None:
            await listener.close(self._server)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
