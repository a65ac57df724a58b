"""SPDY/3.1 as container runtimes speak it, the client's side: streams over one connection.

Runtimes' streaming servers end a command's input only when its SPDY stream ends; their WebSockets cannot.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Mapping

from pybernetes.lib.http.duplex import Duplex

SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
FIN = 1
_PIECE = 32 * 1024
_UNREAD_LIMIT = 1 << 20
# So many frames are handled before others have their turn.
_FRAMES_PER_TURN = 64

# What both sides compress headers with, as the protocol says.
_WORDS = [
    "options",
    "head",
    "post",
    "put",
    "delete",
    "trace",
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "age",
    "allow",
    "authorization",
    "cache-control",
    "connection",
    "content-base",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-md5",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expect",
    "expires",
    "from",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-authorization",
    "range",
    "referer",
    "retry-after",
    "server",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "vary",
    "via",
    "warning",
    "www-authenticate",
    "method",
    "get",
    "status",
] + ["200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin"]
_REST = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY = b"".join(struct.pack("!I", len(word)) + word.encode() for word in _WORDS) + _REST.encode()


class Stream:
    """One stream of a connection."""

    def __init__(self, connection: Connection, number: int, is_read: bool = True) -> None:
        self._connection, self.number, self.is_read = connection, number, is_read
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._ended = False

    async def read(self) -> bytes:
        """Return what came; nothing at the end."""
        if self._ended:
            return b""
        piece = await self._pieces.get()
        self._ended = not piece
        self._connection.taken(len(piece))
        return piece

    async def write(self, data: bytes) -> None:
        """Send data."""
        for start in range(0, len(data), _PIECE):
            await self._connection.send(data_frame(self.number, data[start : start + _PIECE]))

    async def end(self) -> None:
        """Send nothing more."""
        await self._connection.send(data_frame(self.number, b"", FIN))

    def feed(self, data: bytes, last: bool) -> None:
        """Take in what came."""
        if data:
            self._pieces.put_nowait(data)
        if last:
            self._pieces.put_nowait(b"")


def data_frame(number: int, data: bytes, flags: int = 0) -> bytes:
    """Return a frame of a stream's data."""
    return struct.pack("!IB", number, flags) + len(data).to_bytes(3, "big") + data


def control_frame(kind: int, body: bytes, flags: int = 0) -> bytes:
    """Return a frame about the connection or one of its streams."""
    return struct.pack("!HHB", 0x8003, kind, flags) + len(body).to_bytes(3, "big") + body


class FrameParser:
    """Bytes in, frames out: pairs of the eight bytes that a frame begins with and its body."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Return the frames that are complete now."""
        self._data += data
        frames = []
        position = 0
        while len(self._data) - position >= 8:
            end = position + 8 + int.from_bytes(self._data[position + 5 : position + 8], "big")
            if len(self._data) < end:
                break
            frames.append((bytes(self._data[position : position + 8]), bytes(self._data[position + 8 : end])))
            position = end
        del self._data[:position]
        return frames


class Connection:
    """A SPDY connection after the upgrade."""

    def __init__(self, raw: Duplex) -> None:
        self._raw = raw
        self._compressor = zlib.compressobj(zdict=DICTIONARY)
        self._streams: dict[int, Stream] = {}
        self._next = 1
        self._unread = 0
        self._room = asyncio.Event()

    async def open(self, headers: Mapping[str, str], *, is_read: bool = True) -> Stream:
        """Open a new stream; what comes on one that nobody reads is dropped."""
        number, self._next = self._next, self._next + 2
        stream = self._streams[number] = Stream(self, number, is_read)
        block = struct.pack("!I", len(headers))
        for name, value in headers.items():
            for text in (name.lower().encode(), value.encode()):
                block += struct.pack("!I", len(text)) + text
        packed = self._compressor.compress(block) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
        await self.send(control_frame(SYN_STREAM, struct.pack("!IIH", number, 0, 0) + packed))
        return stream

    async def send(self, frame: bytes) -> None:
        """Send a frame."""
        self._raw.write(frame)
        await self._raw.drain()

    def taken(self, size: int) -> None:
        """Note that some of what came has been read."""
        self._unread -= size
        if self._unread <= _UNREAD_LIMIT:
            self._room.set()

    async def run(self) -> None:
        """Hand out what comes until the connection ends, no faster than it is read."""
        parser = FrameParser()
        try:
            while data := await self._raw.read():
                for number, (head, body) in enumerate(parser.feed(data)):
                    await self._frame(head, body)
                    if number % _FRAMES_PER_TURN == _FRAMES_PER_TURN - 1:
                        await asyncio.sleep(0)
                while self._unread > _UNREAD_LIMIT:
                    self._room.clear()
                    await self._room.wait()
        except OSError:
            pass
        finally:
            for stream in self._streams.values():
                stream.feed(b"", True)

    async def _frame(self, head: bytes, body: bytes) -> None:
        if head[0] & 0x80:
            await self._control(int.from_bytes(head[2:4], "big"), head[4], body)
            return
        stream = self._streams.get(int.from_bytes(head[:4], "big"))
        if stream is not None and stream.is_read:
            self._unread += len(body)
            stream.feed(body, bool(head[4] & FIN))

    async def _control(self, kind: int, flags: int, body: bytes) -> None:
        if kind == PING:
            await self.send(control_frame(PING, body))
        elif kind in (SYN_REPLY, RST_STREAM, HEADERS):
            stream = self._streams.get(int.from_bytes(body[:4], "big") & 0x7FFFFFFF)
            if stream is not None and (kind == RST_STREAM or flags & FIN):
                stream.feed(b"", True)

    def close(self) -> None:
        """End the connection."""
        self._raw.close()
