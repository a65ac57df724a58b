"""A proxy for tests: it answers CONNECT, notes for whom, and passes bytes on."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path


class ConnectProxy:
    """Listens at a port or a socket; ``targets`` says what was asked for. ``answer`` takes the place of its own answer."""

    def __init__(self, answer: bytes | None = None) -> None:
        self.targets: list[str] = []
        self.port = 0
        self._answer = answer
        self._elsewhere: dict[str, str] = {}

    def know(self, name: str, address: str) -> None:
        """Know a name that nobody else does."""
        self._elsewhere[name] = address

    @asynccontextmanager
    async def listening(
        self, path: Path | None = None, context: ssl.SSLContext | None = None
    ) -> AsyncIterator[ConnectProxy]:
        """Listen until the end of the context."""
        if path is not None:
            server = await asyncio.start_unix_server(self._serve, path)
        else:
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
            self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            assert method == "CONNECT"
            self.targets.append(target)
            if self._answer is not None:
                writer.write(self._answer)
                writer.close()
                return
            host, _, port = target.rpartition(":")
            host = self._elsewhere.get(host, host.strip("[]"))
            back, forth = await asyncio.open_connection(host, int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
            await asyncio.gather(_pass(reader, forth), _pass(back, writer))
        writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@contextmanager
def proxying(
    proxy: ConnectProxy, path: Path | None = None, context: ssl.SSLContext | None = None
) -> Iterator[ConnectProxy]:
    """Run a proxy in a thread of its own, for other processes."""
    loop = asyncio.new_event_loop()
    ready, ending = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with proxy.listening(path, context):
            ready.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(60)
        yield proxy
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join(60)
