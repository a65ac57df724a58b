"""Requests, the responses that a server gives, and the replies that a client gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from pybernetes.lib.memory.forgetting import forgotten

if TYPE_CHECKING:
    from pybernetes.lib.http.server_connection import Connection

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"
# Taken out of the headers that all answers share when an answer says something else.
NOT_CACHED = b"Cache-Control: no-cache, private\r\n"


# Clients say the same few things over and over. A query is what they make up: longer ones are read each time, so that what
# is kept has a bound in bytes.
_LONGEST_KNOWN = 100


def _parameters(query: str) -> Mapping[str, list[str]]:
    """Read a query; requests with the same one share what it says."""
    parameters: dict[str, list[str]] = {}
    if query:
        for name, value in parse_qsl(query, keep_blank_values=True):
            parameters.setdefault(name, []).append(value)
    return parameters


_known_parameters = forgotten(lru_cache(maxsize=500)(_parameters))


class _StatusLines(dict[int, bytes]):
    """The first lines of answers; those whom we pass requests on to may use codes that have no name."""

    def __missing__(self, status: int) -> bytes:
        return f"HTTP/1.1 {status} status code {status}\r\n".encode()


STATUS_LINES = _StatusLines(
    {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
)


class Request:
    """One request. A server may have a subclass of its own, with what it finds out about a request."""

    __slots__ = ("_query", "body", "connection", "headers", "keep_alive", "method", "path", "query_text",
                 "repeated", "started", "wire")  # fmt: skip

    def __init__(
        self,
        connection: Connection,
        method: str,
        path: str,
        query: str,
        headers: dict[bytes, bytes],
        body: bytes,
    ) -> None:
        self.connection = connection
        self.method = method
        self.path = path
        self.query_text = query
        self.headers = headers
        self.body = body
        # The values of headers that came more than once, one by one; ``headers`` has them joined.
        self.repeated: dict[bytes, list[bytes]] | None = None
        self.keep_alive = True
        self.started = 0.0
        # How many bytes it came in, head and all.
        self.wire = 0
        self._query: Mapping[str, list[str]] | None = None

    @property
    def query(self) -> Mapping[str, list[str]]:
        """Every query parameter with its values, which others have too: nobody may change them."""
        if self._query is None:
            text = self.query_text
            self._query = (_known_parameters if len(text) <= _LONGEST_KNOWN else _parameters)(text)
        return self._query

    def parameter(self, name: str, default: str = "") -> str:
        """Return the first value of a query parameter."""
        if not self.query_text:
            return default
        values = self.query.get(name)
        return values[0] if values else default

    def header(self, name: bytes) -> str:
        """Return a header's text (name in lower case), empty if there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    def values(self, name: bytes) -> list[str]:
        """Return the values of a header that may come more than once, one by one."""
        if self.repeated is not None and name in self.repeated:
            return [value.decode(errors="replace") for value in self.repeated[name]]
        value = self.headers.get(name)
        return [] if value is None else [value.decode(errors="replace")]

    def response_headers(self) -> bytes:
        """Return the header lines that every answer to this request has."""
        return b""

    def connection_ended(self) -> None:
        """Note the end of a connection that this request took over."""

    def written(self) -> None:
        """Note that an answer which is sent in slices is with the client, or that the client is gone."""

    def owner(self) -> str:
        """Return who is to blame for answers that nobody takes: here whoever is at the other end."""
        return self.connection.address()


class Response:
    """A response whose body is known."""

    __slots__ = ("body", "content_type", "headers", "status")

    def in_parts(self) -> tuple[bytes, ...]:
        """Return the body in parts."""
        return (self.body,)

    @property
    def size(self) -> int:
        """How long the body is."""
        return len(self.body)

    def __init__(
        self,
        body: bytes,
        status: int = 200,
        content_type: bytes = JSON,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        self.body = body
        self.status = status
        self.content_type = content_type
        self.headers = headers


class PartedResponse(Response):
    """A response whose body is in parts that it may share with others."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[bytes, ...], content_type: bytes = JSON) -> None:
        self.parts, self.status, self.content_type, self.headers = parts, 200, content_type, ()

    def in_parts(self) -> tuple[bytes, ...]:
        """Return the parts."""
        return self.parts

    @property
    def body(self) -> bytes:  # type: ignore[override]
        """The whole body, for those who need it in one piece."""
        return b"".join(self.parts)

    @property
    def size(self) -> int:
        """How long the body is."""
        return sum(map(len, self.parts))


class Reply:
    """What a server answered to a client. ``header_list`` has the headers in their order, repeated ones included."""

    __slots__ = ("_headers", "body", "header_list", "status")

    def __init__(
        self, status: int = 0, header_list: Iterable[tuple[bytes, bytes]] = (), body: bytes = b""
    ) -> None:
        self.status = status
        self.header_list = list(header_list)
        self.body = body
        self._headers: dict[bytes, bytes] | None = None

    @property
    def headers(self) -> dict[bytes, bytes]:
        """The headers by their names in lower case; of several values the last one."""
        if self._headers is None:
            self._headers = {name.lower(): value for name, value in self.header_list}
        return self._headers

    def header(self, name: bytes) -> str:
        """Return a header's text (name in lower case), empty if there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    def values(self, name: bytes) -> list[bytes]:
        """Return the values of a header that may come more than once."""
        if name not in self.headers:
            return []
        return [value for header, value in self.header_list if header.lower() == name]


def split_target(target: bytes) -> tuple[str, str]:
    """Return the path, with its escapes undone, and the query of a request target."""
    path, _, query = target.partition(b"?")
    text = path.decode("latin-1")
    return (unquote(text) if "%" in text else text), query.decode("latin-1")
