"""A request as the API server knows it: what was asked, by whom, for which kind, and what is noted of it."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from pybernetes.control_plane.apiserver import warning_headers
from pybernetes.lib.http import messages

if TYPE_CHECKING:  # the rooms import this module: it only names the types of what it carries
    from pybernetes.control_plane.apiserver.audit.trail import Trail
    from pybernetes.control_plane.apiserver.authn.user import User
    from pybernetes.control_plane.apiserver.connection import Connection
    from pybernetes.control_plane.apiserver.flowcontrol.priority_level import Ticket
    from pybernetes.control_plane.apiserver.inprocess.objects import Local
    from pybernetes.control_plane.apiserver.request_info import RequestInfo
    from pybernetes.control_plane.apiserver.storage.kind import Kind

# A request's id is a UUID, random for this process and counted within it.
_PROCESS = str(uuid.uuid4())[:23].encode()
_NUMBERS = itertools.count(1)
# One that a client gives is in every answer and in every event of the audit log.
LONGEST_AUDIT_ID = 256


class SetAside:
    """Seconds of a request that its SLI leaves out: in a queue, and at webhooks, which others run."""

    __slots__ = ("mutating", "queued", "validating")

    def __init__(self) -> None:
        self.queued = self.mutating = self.validating = 0.0

    @property
    def seconds(self) -> float:
        """All of them."""
        return self.queued + self.mutating + self.validating


class Request(messages.Request):
    """One request; the steps of the pipeline fill in what they find out about it."""

    __slots__ = (
        "_audit_id", "audit", "flow", "kind", "local", "on_connection_end", "request_info", "set_aside", "ticket", "user",
        "warnings", "weight",
    )  # fmt: skip

    connection: Connection
    # There from the first step on, and from authentication on.
    request_info: RequestInfo
    user: User

    def __init__(
        self,
        connection: Connection,
        method: str,
        path: str,
        query: str,
        headers: dict[bytes, bytes],
        body: bytes,
    ) -> None:
        messages.Request.__init__(self, connection, method, path, query, headers, body)
        self.request_info = None  # type: ignore[assignment]
        self.user = None  # type: ignore[assignment]
        # How much work the body is, in bytes of ordinary JSON: see ``codec/body_weight.py``.
        self.weight = 0
        # The kind that is asked for: the router finds it.
        self.kind: Kind | None = None
        # What verbs do for a caller in this process, which takes objects instead of bytes.
        self.local: Local | None = None
        # Headers that tell the flow of the request, and the seat that it holds until it is answered.
        self.flow = b""
        self.ticket: Ticket | None = None
        # What is noted of it for the audit log, if anything.
        self.audit: Trail | None = None
        # Called at the end of a connection that this request took over.
        self.on_connection_end: Callable[[], object] | None = None
        # Time that is not the server's own: see SetAside.
        self.set_aside: SetAside | None = None
        self._audit_id = b""
        self.warnings: dict[str, None] | None = None

    def aside(self) -> SetAside:
        """Return the seconds that are not the server's own, for more to be added."""
        if self.set_aside is None:
            self.set_aside = SetAside()
        return self.set_aside

    @property
    def audit_id(self) -> bytes:
        """What tells this request from all others: given by whoever passed it on, or new."""
        if not self._audit_id:
            given = self.headers.get(b"audit-id")
            if given and len(given) <= LONGEST_AUDIT_ID:
                self._audit_id = given
            else:
                self._audit_id = b"%b-%012x" % (_PROCESS, next(_NUMBERS))
        return self._audit_id

    def warn(self, text: str) -> None:
        """Add a text to the Warning headers of the response."""
        if self.warnings is None:
            self.warnings = {}
        if len(self.warnings) < warning_headers.MOST:  # more would not be sent
            self.warnings[text] = None

    def response_headers(self) -> bytes:
        """Return the headers that every answer to this request has: its id, its flow and the warnings."""
        own = b"Audit-Id: " + (self._audit_id or self.audit_id) + b"\r\n" + self.flow
        return own + warning_headers.headers(self.warnings) if self.warnings else own

    def written(self) -> None:
        """Give the seat back that was held until a large answer was with the client."""
        ticket, self.ticket = self.ticket, None
        if ticket is not None:
            ticket.level.finish(ticket, time.monotonic() - self.started, at_once=False)

    def owner(self) -> str:
        """Return the user who asked."""
        return self.user.name if self.user is not None else super().owner()

    def connection_ended(self) -> None:
        """Tell whoever wants to know that the connection which this request took over has ended."""
        if self.on_connection_end is not None:
            self.on_connection_end()
