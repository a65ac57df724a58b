"""A request as the API server knows it: what was asked, by whom, for which kind, and what is noted of it."""

from __future__ import annotations

import itertools
import uuid
from typing import TYPE_CHECKING, Any

from pybernetes.control_plane.apiserver import warning_headers
from pybernetes.lib.http import messages

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.connection import Connection

# A request's id is a UUID, random for this process and counted within it.
_PROCESS = str(uuid.uuid4())[:23].encode()
_NUMBERS = itertools.count(1)


class Request(messages.Request):
    """One request. ``user``, ``request_info`` and ``kind`` are filled in by the steps of the chain."""

    __slots__ = ("_audit_id", "audit", "flow", "kind", "local", "request_info", "ticket", "user", "warnings")
    connection: Connection

    def __init__(
        self,
        connection: Connection,
        method: str,
        path: str,
        query: str,
        headers: dict[bytes, bytes],
        body: bytes,
    ) -> None:
        super().__init__(connection, method, path, query, headers, body)
        # Set for a caller in this process that takes objects instead of bytes: see inprocess/.
        self.local: Any = None
        # Headers that tell the flow of the request, and the seat that it holds until it is answered: see flowcontrol/.
        self.flow = b""
        self.ticket: Any = None
        # What is noted of it for the audit log, if anything: see audit/.
        self.audit: Any = None
        self._audit_id = b""
        self.user: Any = None
        self.request_info: Any = None
        self.kind: Any = None
        self.warnings: dict[str, None] | None = None

    @property
    def audit_id(self) -> bytes:
        """What tells this request from all others: given by whoever passed it on, or new."""
        if not self._audit_id:
            self._audit_id = self.headers.get(b"audit-id") or b"%b-%012x" % (_PROCESS, next(_NUMBERS))
        return self._audit_id

    def warn(self, text: str) -> None:
        """Add a text to the Warning headers of the response."""
        if self.warnings is None:
            self.warnings = {}
        if len(self.warnings) < warning_headers.MOST:  # more would not be sent
            self.warnings[text] = None

    def response_headers(self) -> bytes:
        """The headers that every answer to this request has: its id, its flow and the warnings."""
        own = b"Audit-Id: %b\r\n%b" % (self.audit_id, self.flow)
        return own + warning_headers.headers(self.warnings) if self.warnings else own

    def connection_ended(self) -> None:
        """Note the end of a connection that this request took over."""
        if self.audit is not None:
            self.audit.complete()
