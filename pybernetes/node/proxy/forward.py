"""Passes connections and datagrams on to targets: what the mode userspace does instead of the kernel."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from typing import Any

from pybernetes.lib import listener
from pybernetes.node.proxy.balance import Balancer
from pybernetes.node.proxy.service_port import Target

log = logging.getLogger(__name__)
_CONNECT_SECONDS = (
    1.0,
    2.0,
    4.0,
)  # patience with one target after the other; the last one counts for the rest
_UDP_IDLE_SECONDS = 60.0
_DATAGRAM = 65535
_EARLY = 65536  # bytes that are kept while a client waits for a target
_RESET = struct.pack("ii", 1, 0)
# Python does not name them everywhere. The address that a datagram came to is the one to answer from.
_IP_PKTINFO, _IPV6_RECVPKTINFO, _IPV6_PKTINFO = 8, 49, 50


class _Half(asyncio.Protocol):
    """One side of a connection; what comes in here goes out at the other, once there is one."""

    def __init__(self) -> None:
        self.other: _Half | None = None
        self.transport: asyncio.Transport | None = None
        self._early = bytearray()
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def join(self, other: _Half) -> None:
        """Has everything go on to the other side from now on, and what came in before."""
        self.other = other
        early, self._early = bytes(self._early), bytearray()
        if early:
            self.data_received(early)
        if len(early) > _EARLY and self.transport is not None:
            self.transport.resume_reading()
        if self._ended:
            self.eof_received()

    def data_received(self, data: bytes) -> None:
        if self.other is None:
            full = len(self._early) > _EARLY
            self._early += data
            if not full and len(self._early) > _EARLY and self.transport is not None:
                self.transport.pause_reading()
        elif self.other.transport is not None:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        self._ended = True
        if self.other is not None and self.other.transport is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self.other.transport.write_eof()
        return True  # the other direction goes on

    def connection_lost(self, error: Exception | None) -> None:
        other, self.other, self.transport = self.other, None, None
        if other is not None and other.transport is not None:
            if error is not None:
                other.transport.abort()
            else:
                other.transport.close()

    def pause_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()


class TcpForwarder:
    """Accepts connections and passes them on; those under way outlive a change of targets and the end of listening."""

    def __init__(self, balancer: Balancer, family: int) -> None:
        self._balancer, self._family = balancer, family
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def open(self) -> None:
        """Listens on a port of the kernel's choice."""
        host = "0.0.0.0" if self._family == 4 else "::"
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Client(self), host, 0, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    def accepted(self, client: _Client) -> None:
        """A client came."""
        task = asyncio.get_running_loop().create_task(self._join(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(self, client: _Client) -> None:
        assert client.transport is not None
        peer = client.transport.get_extra_info("peername")[0]
        loop = asyncio.get_running_loop()
        for attempt, target in enumerate(self._balancer.choices(peer)):
            patience = _CONNECT_SECONDS[min(attempt, len(_CONNECT_SECONDS) - 1)]
            other = _Half()
            try:
                async with asyncio.timeout(patience):
                    await loop.create_connection(lambda other=other: other, target.ip, target.port)  # type: ignore[misc]
            except (OSError, TimeoutError) as error:
                log.debug("%s cannot be reached: %s", target, error)
                continue
            self._balancer.chosen(peer, target)
            if client.transport is None:
                if other.transport is not None:
                    other.transport.abort()
                return
            client.join(other)
            other.join(client)
            return
        if client.transport is not None:
            made = client.transport.get_extra_info("socket")
            with contextlib.suppress(OSError):
                made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)  # refused, not ended
            client.transport.abort()

    def retarget(self) -> None:
        """Connections stay with their targets."""

    async def close(self) -> None:
        """Listens no more."""
        if self._server is not None:
            await listener.close(self._server)


class _Client(_Half):
    def __init__(self, forwarder: TcpForwarder) -> None:
        super().__init__()
        self._forwarder = forwarder

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._forwarder.accepted(self)


class _Answers(asyncio.DatagramProtocol):
    """Datagrams from a target on their way back to one client."""

    def __init__(self, forwarder: UdpForwarder, client: Any, came_to: bytes, target: Target) -> None:
        self._forwarder, self._client, self._came_to, self.target = forwarder, client, came_to, target
        self.transport: asyncio.DatagramTransport | None = None
        self.used = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def datagram_received(self, data: bytes, address: Any) -> None:
        self._forwarder.answer(data, self._client, self._came_to)

    def error_received(self, error: Exception) -> None:
        self._forwarder.forget(self._client, self._came_to)  # refused: the next datagram goes elsewhere


class UdpForwarder:
    """Passes datagrams on; a client stays with its target until it is silent for a while or the target is gone."""

    def __init__(self, balancer: Balancer, family: int) -> None:
        self._balancer, self._family = balancer, family
        self._socket: socket.socket | None = None
        self._sessions: dict[tuple[Any, bytes], _Answers] = {}
        self._opening: dict[tuple[Any, bytes], list[bytes]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.port = 0

    async def open(self) -> None:
        """Listens on a port of the kernel's choice."""
        four = self._family == 4
        made = socket.socket(socket.AF_INET if four else socket.AF_INET6, socket.SOCK_DGRAM)
        made.setblocking(False)
        if four:
            made.setsockopt(socket.IPPROTO_IP, _IP_PKTINFO, 1)
        else:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            made.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVPKTINFO, 1)
        made.bind(("0.0.0.0" if four else "::", 0))
        self._socket, self.port = made, made.getsockname()[1]
        asyncio.get_running_loop().add_reader(made.fileno(), self._readable)

    def _readable(self) -> None:
        assert self._socket is not None
        for _ in range(64):  # then others have their turn
            try:
                data, ancillary, _, client = self._socket.recvmsg(_DATAGRAM, 256)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                log.debug("a datagram was not received: %s", error)
                return
            came_to = next((each[2] for each in ancillary if each[1] in (_IP_PKTINFO, _IPV6_PKTINFO)), b"")
            self._received(data, client, came_to)

    def _received(self, data: bytes, client: Any, came_to: bytes) -> None:
        key, loop = (client, came_to), asyncio.get_running_loop()
        session = self._sessions.get(key)
        if session is not None and session.transport is not None:
            session.used = loop.time()
            session.transport.sendto(data)
        elif key in self._opening:
            self._opening[key].append(data)
        else:
            self._opening[key] = [data]
            task = loop.create_task(self._begin(key))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _begin(self, key: tuple[Any, bytes]) -> None:
        (client, came_to), loop = key, asyncio.get_running_loop()
        choices = self._balancer.choices(client[0])
        if not choices:
            del self._opening[key]
            return
        target = choices[0]
        try:
            _, session = await loop.create_datagram_endpoint(
                lambda: _Answers(self, client, came_to, target), remote_addr=(target.ip, target.port)
            )
        except OSError as error:
            log.debug("%s cannot be reached: %s", target, error)
            del self._opening[key]
            return
        self._balancer.chosen(client[0], target)
        session.used = loop.time()
        self._sessions[key] = session
        assert session.transport is not None
        for data in self._opening.pop(key):
            session.transport.sendto(data)
        if self._timer is None:
            self._timer = loop.call_later(_UDP_IDLE_SECONDS, self._end_idle)

    def answer(self, data: bytes, client: Any, came_to: bytes) -> None:
        """Sends an answer to a client, from the address that the client wrote to."""
        session = self._sessions.get((client, came_to))
        if session is not None:
            session.used = asyncio.get_running_loop().time()
        if self._socket is None:
            return
        if self._family == 4:
            _, local, _ = struct.unpack("I4s4s", came_to)
            control = (socket.IPPROTO_IP, _IP_PKTINFO, struct.pack("I4s4s", 0, local, b"\0" * 4))
        else:
            control = (socket.IPPROTO_IPV6, _IPV6_PKTINFO, came_to[:16] + struct.pack("I", 0))
        with contextlib.suppress(OSError):  # a full buffer or a client that is gone: datagrams get lost
            self._socket.sendmsg([data], [control], 0, client)

    def forget(self, client: Any, came_to: bytes) -> None:
        """Ends a session."""
        session = self._sessions.pop((client, came_to), None)
        if session is not None and session.transport is not None:
            session.transport.close()

    def _end_idle(self) -> None:
        loop = asyncio.get_running_loop()
        limit = loop.time() - _UDP_IDLE_SECONDS
        for key in [key for key, each in self._sessions.items() if each.used < limit]:
            self.forget(*key)
        self._timer = loop.call_later(_UDP_IDLE_SECONDS, self._end_idle) if self._sessions else None

    def retarget(self) -> None:
        """Ends sessions with targets that are gone."""
        for key in [key for key, each in self._sessions.items() if each.target not in self._balancer]:
            self.forget(*key)

    async def close(self) -> None:
        """Ends every session and listens no more."""
        for key in list(self._sessions):
            self.forget(*key)
        if self._timer is not None:
            self._timer.cancel()
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
