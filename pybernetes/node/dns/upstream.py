"""Asking another server: over UDP from a port of its own for each question, over TCP or TLS on one connection for many."""

from __future__ import annotations

import asyncio
import secrets
import ssl

from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.node.dns import wire
from pybernetes.node.dns.config import Server

_MOST_WAITING = 1000  # questions on one connection
_EXPIRE_SECONDS = 10.0


async def exchange(question: bytes, to: Server, source: str = "", dialer: Dialer = direct) -> bytes:
    """Send a question over UDP from a port of its own, and return the answer, which may be cut."""
    sent = wire.query(secrets.randbits(16), question)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()
    made = None if source else await dialer.datagrams(*to)
    if made is not None:
        transport, _ = await loop.create_datagram_endpoint(lambda: _Once(answer, sent), sock=made)
    else:
        transport, _ = await loop.create_datagram_endpoint(
            lambda: _Once(answer, sent), remote_addr=to, local_addr=(source, 0) if source else None
        )
    try:
        transport.sendto(sent)
        return await answer
    finally:
        transport.close()


def fits(message: bytes, sent: bytes) -> bool:
    """Return whether a message answers our question."""
    try:
        end = wire.read_question(message)[2]
    except wire.Malformed:
        return False
    same = message[12:end].lower() == sent[12 : len(sent) - 11].lower()
    return bool(message[2] & 0x80) and message[:2] == sent[:2] and same


class _Once(asyncio.DatagramProtocol):
    def __init__(self, answer: asyncio.Future[bytes], sent: bytes) -> None:
        self._answer, self._sent = answer, sent

    def datagram_received(self, data: bytes, addr: object) -> None:
        # Anything else may be a guess of somebody who wants to be believed.
        if not self._answer.done() and fits(data, self._sent):
            self._answer.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self._answer.done():
            self._answer.set_exception(exc)


class Stream:
    """One connection to a server, opened when it is needed, closed when it was idle for a while.

    Questions go out as they come, and answers are matched by their number, in whatever order they arrive.
    """

    def __init__(
        self, to: Server, tls: ssl.SSLContext | None = None, server_name: str = "",
        expire: float = _EXPIRE_SECONDS, source: str = "", dialer: Dialer = direct,
    ) -> None:  # fmt: skip
        self._to, self._tls, self._server_name, self._expire = to, tls, server_name, expire
        self._source, self._dialer = source, dialer
        self._channel: _Channel | None = None
        self._opening: asyncio.Task[_Channel] | None = None

    async def exchange(self, question: bytes) -> bytes:
        """Return the answer to a question."""
        channel = self._channel
        if channel is None or channel.is_closing:
            if self._opening is None:
                self._opening = asyncio.create_task(self._open())
                self._opening.add_done_callback(self._opened)
            channel = await asyncio.shield(self._opening)
        return await channel.exchange(question)

    async def _open(self) -> _Channel:
        loop = asyncio.get_running_loop()
        name = (self._server_name or self._to[0]) if self._tls else None
        made = None if self._source else await self._dialer.connected(*self._to)
        if made is not None:
            _, channel = await loop.create_connection(
                lambda: _Channel(self._expire), sock=made, ssl=self._tls, server_hostname=name
            )
        else:
            _, channel = await loop.create_connection(
                lambda: _Channel(self._expire), *self._to, ssl=self._tls, server_hostname=name,
                local_addr=(self._source, 0) if self._source else None,
            )  # fmt: skip
        self._channel = channel
        return channel

    def _opened(self, task: asyncio.Task[_Channel]) -> None:
        self._opening = None
        if not task.cancelled():
            task.exception()  # whoever waited has it

    async def close(self) -> None:
        """End the connection."""
        if self._opening is not None:
            self._opening.cancel()
        if self._channel is not None:
            self._channel.close()


class _Channel(asyncio.Protocol):
    def __init__(self, expire: float) -> None:
        self._waiting: dict[int, tuple[bytes, asyncio.Future[bytes]]] = {}
        self._buffer = bytearray()
        self._transport: asyncio.Transport = None  # type: ignore[assignment]
        self._expire = expire
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    async def exchange(self, question: bytes) -> bytes:
        if len(self._waiting) >= _MOST_WAITING:
            raise OSError("too many questions are on their way already")
        identifier = secrets.randbits(16)
        while identifier in self._waiting:
            identifier = secrets.randbits(16)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        sent = wire.query(identifier, question)
        answer: asyncio.Future[bytes] = loop.create_future()
        self._waiting[identifier] = sent, answer
        try:
            self._transport.write(len(sent).to_bytes(2) + sent)
            return await answer
        finally:
            self._waiting.pop(identifier, None)
            if not self._waiting and not self.is_closing:
                self._timer = loop.call_later(self._expire, self._transport.close)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        while len(buffer) >= 2 and len(buffer) >= 2 + (length := int.from_bytes(buffer[:2])):
            message = bytes(buffer[2 : 2 + length])
            del buffer[: 2 + length]
            sent, answer = self._waiting.get(int.from_bytes(message[:2]), (b"", None))
            if answer is None or not fits(message, sent):
                if answer is not None:  # of a server that mixes things up nothing more is believed
                    self._transport.abort()
                    return
                continue  # somebody waited no longer
            if not answer.done():
                answer.set_result(message)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for _, answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(OSError("the connection ended too early"))

    def close(self) -> None:
        self._transport.close()
