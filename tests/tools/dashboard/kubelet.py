"""A kubelet that tests play, in a thread of its own: logs, shells that are real ones of this machine, ports that answer HTTP."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import termios
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from pybernetes.client.pod_streams import ERROR, RESIZE, STDIN, STDOUT
from pybernetes.lib.http import websocket
from pybernetes.lib.tls import tls
from tests.servers import Server
from tests.servers import running as running_server

# What the pod writes that is called talkative: so many lines, then what a terminal would show in colours.
MANY = 100_000
COLOURED = (
    "\x1b[31mred\x1b[0m \x1b]0;caught\x07plain\x1b[2J \x1b[1;38;5;208mbold\x1b[m\n10%\r100%\n<img src=x>\r\n"
)

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter


async def _serve(reader: Reader, writer: Writer) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    target = urlsplit(head.split(b" ")[1].decode())
    lines = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    headers = {name.lower(): value for name, value in lines.items()}
    try:
        if target.path.startswith("/containerLogs"):
            await _log(reader, writer, target.path, "follow" in parse_qs(target.query))
            return
        protocol = headers[b"sec-websocket-protocol"].split(b",")[0].strip()
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: %b\r\nSec-WebSocket-Protocol: %b\r\n\r\n"
            % (websocket.accept_of(headers[b"sec-websocket-key"]), protocol)
        )
        if target.path.startswith("/portForward"):
            await _port(reader, writer)
        else:
            await _shell(reader, writer, parse_qs(target.query).get("command", ["sh"]))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _log(reader: Reader, writer: Writer, path: str, follow: bool) -> None:
    """Write some lines; whoever follows waits for more until he reads no more. Pods called talkative have many."""
    pod = path.split("/")[3]
    text = f"{pod} says <b>hello</b>\n{pod} goes on\n"
    if pod == "talkative":
        text = "".join(f"line {number} of many\n" for number in range(MANY)) + COLOURED
    data = text.encode()
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(data), data))
    if follow:
        await reader.read()
    else:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _messages(reader: Reader) -> AsyncIterator[tuple[int, bytes]]:
    parser = websocket.Parser(masked=True)
    while data := await reader.read(65536):
        parser.feed(data)
        for opcode, message in iter(parser.next, None):
            if opcode == 2 and message:
                yield message[0], message[1:]


async def _port(reader: Reader, writer: Writer) -> None:
    for channel in (0, 1):
        writer.write(websocket.frame(2, bytes((channel, 80, 0))))
    async for _ in _messages(reader):
        body = b"<h1>a page of the pod</h1>"
        writer.write(
            websocket.frame(2, b"\0HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        )


async def _shell(reader: Reader, writer: Writer, command: list[str]) -> None:
    outer, inner = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "PS1": "$ ", "HOME": "/nowhere", "LANG": "C.UTF-8"}
    # Tests that run in the background ignore interrupts, and so would all that they start.
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=inner, stdout=inner, stderr=inner, env=environment, start_new_session=True, preexec_fn=interruptible
    )  # fmt: skip
    os.close(inner)
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def show() -> None:
        try:
            data = os.read(outer, 65536)
        except OSError:  # its last process is gone
            data = b""
        if data:
            writer.write(websocket.frame(2, bytes((STDOUT,)) + data))
        else:
            loop.remove_reader(outer)
            done.set()

    async def take() -> None:
        async for channel, data in _messages(reader):
            if channel == STDIN:
                os.write(outer, data)
            elif channel == RESIZE:
                size = orjson.loads(data)
                fcntl.ioctl(
                    outer, termios.TIOCSWINSZ, struct.pack("HHHH", size["Height"], size["Width"], 0, 0)
                )
        done.set()

    loop.add_reader(outer, show)
    taking = asyncio.ensure_future(take())
    try:
        await done.wait()
        if process.returncode is None and taking.done():
            process.kill()
        code = await process.wait()
        causes = [{"reason": "ExitCode", "message": str(code)}]
        failed = {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}
        status = failed if code else {"status": "Success"}
        writer.write(websocket.frame(2, bytes((ERROR,)) + orjson.dumps(status)))
        writer.write(websocket.frame(8, b"\x03\xe8"))
    finally:
        loop.remove_reader(outer)
        taking.cancel()
        os.close(outer)


class _Listening:
    """The thread, and what it tells about itself."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._listen()))
        self.port = 0

    async def _listen(self) -> None:
        certificate, key, _ = tls.ensure_serving(self._directory, ["127.0.0.1"])
        context = tls.server_context(certificate, key)
        server = await asyncio.start_server(_serve, "127.0.0.1", 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._over.wait()
        server.close()

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(60)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()


@contextmanager
def playing(server: Server, node: str, directory: Path) -> Iterator[None]:
    """Play the kubelet of a node that is made for it."""
    listening = _Listening(directory)
    listening.start()
    try:
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": listening.port}},
        }
        code, answer = server.call("POST", "/api/v1/nodes", {"metadata": {"name": node}, "status": status})
        assert code == 201, answer
        yield
    finally:
        listening.stop()


@contextmanager
def server_with_pods(folders: pytest.TempPathFactory, *names: str) -> Iterator[Server]:
    """Run an API server with pods on a node whose kubelet is played."""
    with (
        running_server(folders.mktemp("server")) as server,
        playing(server, "one", folders.mktemp("kubelet")),
    ):
        for name in names:
            container = {"name": "main", "image": "none", "ports": [{"containerPort": 80}]}
            spec = {"nodeName": "one", "containers": [container]}
            server.make("/api/v1/namespaces/default/pods", {"metadata": {"name": name}, "spec": spec})
        yield server
