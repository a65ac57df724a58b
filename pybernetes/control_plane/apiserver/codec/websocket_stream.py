"""A long answer as the messages of a WebSocket, for clients (browsers mostly) that cannot read streams."""

from __future__ import annotations

import asyncio
import base64
import struct
from collections.abc import Callable, Iterable, Sequence, Sized

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http import websocket
from pybernetes.lib.http.stream import Stream, contents
from pybernetes.lib.http.unread import Unread
from pybernetes.lib.http.upgrade import Upgrade, switching_protocols

_NORMAL = struct.pack(">H", websocket.NORMAL)
# These clients have nothing to say but that they are there, and goodbye.
_MESSAGE_LIMIT = 1 << 16
_MESSAGES_PER_READ = 1000
_PONGS_LIMIT = 1 << 16
Split = Callable[[bytes], Iterable[bytes]]  # what was written at once into messages


def wanted(request: Request) -> bool:
    """Return whether the client asks for a WebSocket."""
    return request.headers.get(b"upgrade", b"").lower() == b"websocket"


def raw(stream: Stream, request: Request) -> Upgrade:
    """Send bytes as they come, in the encoding that the client chose by a subprotocol."""
    offered = _offered(request)
    for name in offered:
        if name == b"binary.k8s.io":
            return _upgrade(stream, request, name, websocket.BINARY, lambda data: (data,))
        if name == b"base64.binary.k8s.io":
            return _upgrade(stream, request, name, websocket.TEXT, lambda data: (base64.b64encode(data),))
    if offered:
        names = " ".join(protocol.decode() for protocol in offered)
        raise errors.StatusError(403, "Forbidden", f"requested protocol(s) are not supported: [{names}]")
    return _upgrade(stream, request, b"", websocket.BINARY, lambda data: (data,))


def lines(stream: Stream, request: Request) -> Upgrade:
    """Send a message for each line, as text."""
    offered = _offered(request)
    return _upgrade(stream, request, offered[0] if offered else b"", websocket.TEXT, bytes.splitlines)


def sized(stream: Stream, request: Request) -> Upgrade:
    """Send a message for each part that has its size before it, as bytes and without the size."""
    offered = _offered(request)
    return _upgrade(stream, request, offered[0] if offered else b"", websocket.BINARY, _parts)


def _parts(data: bytes) -> Iterable[bytes]:
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def _offered(request: Request) -> list[bytes]:
    names = request.headers.get(b"sec-websocket-protocol", b"").split(b",")
    # A token that travels as a subprotocol is no protocol.
    return [name.strip() for name in names if name.strip() and b"bearer.authorization.k8s.io" not in name]


def _upgrade(stream: Stream, request: Request, protocol: bytes, kind: int, split: Split) -> Upgrade:
    key = request.headers.get(b"sec-websocket-key")
    if not key:
        raise errors.bad_request("the request has no Sec-WebSocket-Key")
    head = switching_protocols(websocket.accept_headers(key, protocol))

    def start(transport: asyncio.Transport, leftover: bytes) -> asyncio.Protocol:
        transport.write(head)
        server, owner = request.connection.server, request.owner()
        client = _Client(transport, stream, request.connection.backlog, kind, split, server.unread, owner)
        stream.attach(client)
        if leftover:
            client.data_received(leftover)
        return client

    return Upgrade(start, stream.lost)


class _Client(asyncio.Protocol):
    """The client's side: to a stream it looks like a connection, and like the transport of one."""

    def __init__(
        self, transport: asyncio.Transport, stream: Stream, backlog: int, kind: int, split: Split, unread: Unread,
        owner: str,
    ) -> None:  # fmt: skip
        self._unread, self._owner = unread, owner
        self._own, self._stream, self.backlog = transport, stream, backlog
        self._kind, self._split = kind, split
        self._parser = websocket.Parser(masked=True, limit=_MESSAGE_LIMIT)

    @property
    def transport(self) -> _Client:
        """Itself; not an attribute, which would be a ring: what the client has sent would stay, for hours perhaps."""
        return self

    def write(self, data: bytes) -> None:
        """Take what a stream sends, which is in chunks."""
        messages = (message for chunk in contents(data) for message in self._split(chunk))
        self._own.write(b"".join(websocket.frame(self._kind, message) for message in messages))

    def get_write_buffer_size(self) -> int:
        """Return how much waits for the client."""
        return self._own.get_write_buffer_size()

    def flush_later(self, stream: Stream) -> None:
        """Have a stream send what it has at the end of this turn."""
        asyncio.get_running_loop().call_soon(stream.flush)

    def left_unread(self, parts: Sequence[Sized]) -> None:
        """Note what waits for the client."""
        self._unread.hold(self, self._owner, parts)

    def all_read(self) -> None:
        """Note that nothing waits any more."""
        self._unread.release(self)

    def abort(self) -> None:
        """Give up on a client that does not keep pace."""
        self._own.abort()

    def finished(self) -> None:
        """Take note that the stream has ended."""
        self._own.write(websocket.frame(websocket.CLOSE, _NORMAL))
        self._own.close()

    def data_received(self, data: bytes) -> None:
        answers = bytearray()  # written at once: every write is a record of TLS and a call of the system
        goes_on = self._answer(data, answers, _PONGS_LIMIT - self._own.get_write_buffer_size())
        if answers:
            self._own.write(bytes(answers))
        if not goes_on:
            self._own.close()

    def _answer(self, data: bytes, answers: bytearray, room: int) -> bool:
        """Add the answers to what a client sends, as far as there is room; return whether the connection goes on."""
        try:
            self._parser.feed(data)
            for _ in range(_MESSAGES_PER_READ):
                message = self._parser.next()
                if message is None:
                    return True
                opcode, payload = message
                if opcode == websocket.CLOSE:
                    answers += websocket.frame(websocket.CLOSE, websocket.goodbye(payload))
                    return False
                if opcode == websocket.PING and len(answers) < room:
                    answers += websocket.frame(websocket.PONG, payload)
        except websocket.WebSocketError as error:
            answers += websocket.frame(websocket.CLOSE, struct.pack(">H", error.code))
        return False

    def pause_writing(self) -> None:
        self._stream.pause()

    def resume_writing(self) -> None:
        self._stream.resume()

    def connection_lost(self, error: Exception | None) -> None:
        self._stream.lost()
