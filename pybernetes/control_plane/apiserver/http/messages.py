"""Requests and responses."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from pybernetes.control_plane.apiserver.http import warnings

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.http.connection import Connection

JSON = b"application/json"
# A request's id is a UUID, random for this process and counted within it.
_PROCESS = str(uuid.uuid4())[:23].encode()
_NUMBERS = itertools.count(1)


class _StatusLines(dict[int, bytes]):
    """The first lines of answers; those whom we pass requests on to may use codes that have no name."""

    def __missing__(self, status: int) -> bytes:
        return f"HTTP/1.1 {status} status code {status}\r\n".encode()


STATUS_LINES = _StatusLines(
    {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
)


class Request:
    """One request. ``user`` and ``info`` are filled in by the steps of the chain."""

    __slots__ = ("_audit_id", "_query", "audit", "body", "connection", "flow", "headers", "info", "keep_alive", "local", "method", "path",
                 "query_text", "repeated", "started", "state", "ticket", "user", "warnings")  # fmt: skip

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
        # Set for a caller in this process that takes objects instead of bytes: see inprocess/.
        self.local: Any = None
        self.started = 0.0
        # Headers that tell the flow of the request, and the seat that it holds until it is answered: see flowcontrol/.
        self.flow = b""
        self.ticket: Any = None
        # What is noted of it for the audit log, if anything: see audit/.
        self.audit: Any = None
        self._audit_id = b""
        self.user: Any = None
        self.info: Any = None
        self.state: Any = None
        self.warnings: dict[str, None] | None = None
        self._query: Mapping[str, list[str]] | None = None

    @property
    def query(self) -> Mapping[str, list[str]]:
        """Every query parameter with its values."""
        if self._query is None:
            found: dict[str, list[str]] = {}
            if self.query_text:
                for name, value in parse_qsl(self.query_text, keep_blank_values=True):
                    found.setdefault(name, []).append(value)
            self._query = found
        return self._query

    @property
    def audit_id(self) -> bytes:
        """What tells this request from all others: given by whoever passed it on, or new."""
        if not self._audit_id:
            self._audit_id = self.headers.get(b"audit-id") or b"%b-%012x" % (_PROCESS, next(_NUMBERS))
        return self._audit_id

    def parameter(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        if not self.query_text:
            return default
        values = self.query.get(name)
        return values[0] if values else default

    def header(self, name: bytes) -> str:
        """A header's text (name in lower case), empty if there is none."""
        return self.headers.get(name, b"").decode("latin-1")

    def values(self, name: bytes) -> list[str]:
        """The values of a header that may come more than once, one by one."""
        if self.repeated is not None and name in self.repeated:
            return [value.decode(errors="replace") for value in self.repeated[name]]
        value = self.headers.get(name)
        return [] if value is None else [value.decode(errors="replace")]

    def warn(self, text: str) -> None:
        """Adds a text to the Warning headers of the response."""
        if self.warnings is None:
            self.warnings = {}
        if len(self.warnings) < warnings.MOST:  # more would not be sent
            self.warnings[text] = None


class Response:
    """A response whose body is known."""

    __slots__ = ("body", "content_type", "headers", "status")

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


def split_target(target: bytes) -> tuple[str, str]:
    """The path, with its escapes undone, and the query of a request target."""
    path, _, query = target.partition(b"?")
    text = path.decode("latin-1")
    return (unquote(text) if "%" in text else text), query.decode("latin-1")
