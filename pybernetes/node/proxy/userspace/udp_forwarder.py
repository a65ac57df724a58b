"""Forwards UDP datagrams to targets, and their answers back to the clients."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct

from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.userspace.round_robin import RoundRobin

log = logging.getLogger(__name__)
_IDLE_SECONDS = 60.0
_DATAGRAM = 65535
_DATAGRAMS_AT_ONCE = 64
# Python does not name them everywhere. The address that a datagram came to is the one to answer from.
_IP_PKTINFO, _IPV6_RECVPKTINFO, _IPV6_PKTINFO = 8, 49, 50
_Address = tuple[str, int] | tuple[str, int, int, int]  # the longer one is of IPv6
# The address of a client, and the control message with the address that it wrote to.
_SessionKey = tuple[_Address, bytes]


class _Session(asyncio.DatagramProtocol):
    """The socket towards the target of one client: answers go back to that client."""

    def __init__(self, forwarder: UdpForwarder, client: _Address, came_to: bytes, target: Target) -> None:
        self._forwarder, self._client, self._came_to, self.target = forwarder, client, came_to, target
        self.transport: asyncio.DatagramTransport | None = None
        self.used = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def datagram_received(self, data: bytes, address: _Address) -> None:
        self._forwarder.answer(data, self._client, self._came_to)

    def error_received(self, error: Exception) -> None:
        self._forwarder.forget(
            self._client, self._came_to
        )  # refused: the next datagram goes to another target


class UdpForwarder:
    """Forwards datagrams; a client keeps its target until it has been silent for a while or the target is gone."""

    def __init__(self, balancer: RoundRobin, family: int) -> None:
        self._balancer, self._family = balancer, family
        self._socket: socket.socket | None = None
        self._sessions: dict[_SessionKey, _Session] = {}
        self._opening: dict[_SessionKey, list[bytes]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.port = 0

    async def open(self) -> None:
        """Listen on a port that the kernel chooses."""
        ipv4 = self._family == 4
        listening = socket.socket(socket.AF_INET if ipv4 else socket.AF_INET6, socket.SOCK_DGRAM)
        listening.setblocking(False)
        if ipv4:
            listening.setsockopt(socket.IPPROTO_IP, _IP_PKTINFO, 1)
        else:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVPKTINFO, 1)
        listening.bind(("0.0.0.0" if ipv4 else "::", 0))
        self._socket, self.port = listening, listening.getsockname()[1]
        asyncio.get_running_loop().add_reader(listening.fileno(), self._readable)

    def _readable(self) -> None:
        assert self._socket is not None
        for _ in range(_DATAGRAMS_AT_ONCE):  # then other sockets get their turn
            try:
                data, ancillary, _, client = self._socket.recvmsg(_DATAGRAM, 256)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                log.debug("a datagram was not received: %s", error)
                return
            came_to = next(
                (value for _, kind, value in ancillary if kind in (_IP_PKTINFO, _IPV6_PKTINFO)), b""
            )
            self._received(data, client, came_to)

    def _received(self, data: bytes, client: _Address, came_to: bytes) -> None:
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

    async def _begin(self, key: _SessionKey) -> None:
        (client, came_to), loop = key, asyncio.get_running_loop()
        choices = self._balancer.choices(client[0])
        if not choices:
            del self._opening[key]
            return
        target = choices[0]
        try:
            _, session = await loop.create_datagram_endpoint(
                lambda: _Session(self, client, came_to, target), remote_addr=(target.ip, target.port)
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
            self._timer = loop.call_later(_IDLE_SECONDS, self._end_idle)

    def answer(self, data: bytes, client: _Address, came_to: bytes) -> None:
        """Send an answer to a client, from the address that the client wrote to."""
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

    def forget(self, client: _Address, came_to: bytes) -> None:
        """End a session."""
        session = self._sessions.pop((client, came_to), None)
        if session is not None and session.transport is not None:
            session.transport.close()

    def _end_idle(self) -> None:
        loop = asyncio.get_running_loop()
        limit = loop.time() - _IDLE_SECONDS
        for key in [key for key, session in self._sessions.items() if session.used < limit]:
            self.forget(*key)
        self._timer = loop.call_later(_IDLE_SECONDS, self._end_idle) if self._sessions else None

    def retarget(self) -> None:
        """End sessions with targets that are gone."""
        for key in [key for key, session in self._sessions.items() if session.target not in self._balancer]:
            self.forget(*key)

    async def close(self) -> None:
        """End every session and stop listening."""
        for key in list(self._sessions):
            self.forget(*key)
        if self._timer is not None:
            self._timer.cancel()
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
