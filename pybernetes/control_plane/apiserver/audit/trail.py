"""What is noted of one request on its way through the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.audit import event as form
from pybernetes.control_plane.apiserver.audit.policy import LEVELS, REQUEST, REQUEST_RESPONSE, Depth
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib import rfc3339
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.upgrade import Upgrade

_CLOSED_EARLY = {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200}
# Whether a backend could take an event: now, or once it has tried.
Done = bool | Awaitable[bool]


class Trail:
    """The audit event of one request, sent at each of its stages."""

    __slots__ = ("_send", "annotations", "depth", "event", "open")

    def __init__(self, send: Callable[[form.Event], Done], request: Request, depth: Depth) -> None:
        self._send, self.depth = send, depth
        received = rfc3339.micro(time.time() - (time.monotonic() - request.started))
        self.event = form.begin(request, LEVELS[depth.level], received)
        self.annotations: dict[str, str] = {}
        self.open = True

    def note(self, stage: str) -> Done:
        """Send the event as it is at a stage; False if a backend that insists could not take it."""
        if stage in self.depth.omitted:
            return True
        event = self.event
        event["stage"] = stage
        if stage != "RequestReceived":
            event["stageTimestamp"] = rfc3339.micro(time.time())
        if self.annotations:
            event["annotations"] = self.annotations
        return self._send(event)

    def sent(self, resource: Resource, obj: Object) -> None:
        """Note the object that came with the request, with the defaults of its kind."""
        form.refer(self.event, obj)
        if self.depth.level >= REQUEST:
            copy = form.copied(obj)
            if resource.default is not None:
                resource.default(copy)
            self._put("requestObject", copy)

    def sent_value(self, value: Any) -> None:
        """Note a body that is no object of a kind: a patch, or options."""
        if self.depth.level >= REQUEST:
            self.event["requestObject"] = form.copied(value)

    def become(self, user: User, constraint: str) -> None:
        """Note in whose name the request goes on, and by which right if it is a narrow one."""
        self.event["impersonatedUser"] = user.info()
        if constraint:
            self.event["authenticationMetadata"] = {"impersonationConstraint": constraint}

    def _put(self, name: str, value: Any) -> None:
        self.event[name] = value if self.depth.managed_fields else form.without_managed_fields(value)

    def answered(self, answer: Answer) -> None:
        """Note the answer."""
        code = 101 if isinstance(answer, Upgrade) else answer.status
        self.event["responseStatus"] = form.status_of(answer, code)
        if self.depth.level >= REQUEST_RESPONSE and "objectRef" in self.event:
            value = form.value_of(answer)
            if value is not None:
                self._put("responseObject", value)

    def complete(self) -> Done:
        """Note the end, once."""
        if not self.open:
            return True
        self.open = False
        if "responseStatus" not in self.event:
            self.event["responseStatus"] = _CLOSED_EARLY
        return self.note("ResponseComplete")


def all_done(notes: Iterable[Done]) -> Awaitable[list[bool]] | None:
    """Return what has to be waited for until all backends have taken their events, or None."""
    waiting = [note for note in notes if not isinstance(note, bool)]
    return asyncio.gather(*waiting) if waiting else None
