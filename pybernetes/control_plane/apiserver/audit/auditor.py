"""Follows requests through the server and notes their stages.

``step`` is the step behind authentication, where it is decided how much is noted of a request. ``wrap`` stands in front
of the whole server: it sees the answers, whoever gave them, and the end of those that go on.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from pybernetes.api import errors
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.audit import event as form
from pybernetes.control_plane.apiserver.audit.policy import (
    LEVELS,
    NONE,
    REQUEST,
    REQUEST_RESPONSE,
    Depth,
    Policy,
)
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib import rfc3339
from pybernetes.lib.exposition import Exposition
from pybernetes.lib.http.server_connection import Answer, Application
from pybernetes.lib.http.stream import Stream
from pybernetes.lib.http.upgrade import Upgrade

_LONG_VERBS = frozenset(("watch", "proxy"))
_LONG_SUBRESOURCES = frozenset(("attach", "exec", "proxy", "log", "portforward"))
_CLOSED_EARLY = {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200}
Done = bool | Awaitable[bool]


class Backend(Protocol):
    """Where events go. ``take`` says whether it could be done, and takes time if requests are to wait for it."""

    def take(self, event: form.Event, line: bytes) -> Done: ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def render(self, out: Exposition) -> None: ...


class Trail:
    """What is noted of one request on its way."""

    __slots__ = ("_auditor", "annotations", "depth", "event", "open")

    def __init__(self, auditor: Auditor, request: Request, depth: Depth) -> None:
        self._auditor, self.depth = auditor, depth
        received = rfc3339.micro(time.time() - (time.monotonic() - request.started))
        self.event = form.begin(request, LEVELS[depth.level], received)
        self.annotations: dict[str, str] = {}
        self.open = True

    def note(self, stage: str) -> Done:
        """Sends the event as it is at a stage; False if it is to be refused."""
        if stage in self.depth.omitted:
            return True
        event = self.event
        event["stage"] = stage
        if stage != "RequestReceived":
            event["stageTimestamp"] = rfc3339.micro(time.time())
        if self.annotations:
            event["annotations"] = self.annotations
        return self._auditor.send(event)

    def sent(self, resource: Resource, obj: Object) -> None:
        """Notes the object that came with the request, with the defaults of its kind."""
        form.refer(self.event, obj)
        if self.depth.level >= REQUEST:
            noted = form.copied(obj)
            if resource.default is not None:
                resource.default(noted)
            self._put("requestObject", noted)

    def sent_value(self, value: Any) -> None:
        """Notes a body that is no object of a kind: a patch, or options."""
        if self.depth.level >= REQUEST:
            self.event["requestObject"] = form.copied(value)

    def become(self, user: User, constraint: str) -> None:
        """Notes in whose name the request goes on, and by which right if it is a narrow one."""
        self.event["impersonatedUser"] = user.info()
        if constraint:
            self.event["authenticationMetadata"] = {"impersonationConstraint": constraint}

    def _put(self, name: str, value: Any) -> None:
        self.event[name] = value if self.depth.managed_fields else form.without_managed_fields(value)

    def answered(self, answer: Any, code: int) -> None:
        """Notes the answer."""
        self.event["responseStatus"] = form.status_of(answer, code)
        if self.depth.level >= REQUEST_RESPONSE and "objectRef" in self.event:
            value = form.value_of(answer)
            if value is not None:
                self._put("responseObject", value)

    def complete(self) -> Done:
        """Notes the end, once."""
        if not self.open:
            return True
        self.open = False
        if "responseStatus" not in self.event:
            self.event["responseStatus"] = _CLOSED_EARLY
        return self.note("ResponseComplete")


class Auditor:
    """A policy and the backends."""

    def __init__(self, policy: Policy, backends: Sequence[Backend]) -> None:
        self._policy, self.backends = policy, tuple(backends)
        self._levels: Counter[str] = Counter()
        self._events = self._rejected = 0

    async def start(self) -> None:
        """Gets the backends ready."""
        for backend in self.backends:
            await backend.start()

    async def close(self) -> None:
        """Sends what is still waiting."""
        await asyncio.gather(*(backend.close() for backend in self.backends))

    def send(self, event: form.Event) -> Done:
        """Gives an event to every backend; False if one that insists could not take it."""
        self._events += 1
        line = form.encode(event)
        results = [backend.take(event, line) for backend in self.backends]
        waiting = [result for result in results if not isinstance(result, bool)]
        if waiting:
            return self._wait(waiting, all(result for result in results if isinstance(result, bool)))
        return all(results)

    async def _wait(self, waiting: list[Awaitable[bool]], good: bool) -> bool:
        return all(await asyncio.gather(*waiting)) and good

    # -- the way of a request ------------------------------------------------------------------------------

    def step(self, request: Request) -> Any:
        """The step behind authentication: decides, and notes that there is a request."""
        trail = self._begin(request)
        if trail is None:
            return None
        request.audit = trail
        good = trail.note("RequestReceived")
        if isinstance(good, bool):
            return self._checked(good)
        return self._later_checked(good)

    def _begin(self, request: Request) -> Trail | None:
        depth = self._policy.depth(request.user, request.request_info)
        self._levels[LEVELS[depth.level]] += 1
        return Trail(self, request, depth) if depth.level != NONE else None

    def _checked(self, good: bool) -> None:
        if not good:
            self._rejected += 1
            raise errors.internal("failed to store audit event")

    async def _later_checked(self, waiting: Awaitable[bool]) -> None:
        self._checked(await waiting)

    def wrap(self, application: Application) -> Application:
        """The server with an eye on its answers."""

        def audited(request: Request) -> Answer | Awaitable[Answer]:
            answer = application(request)
            if inspect.isawaitable(answer):
                return later(request, answer)
            waiting = self._answered(request, answer)
            return answer if waiting is None else after(answer, waiting)

        async def later(request: Request, awaitable: Awaitable[Answer]) -> Answer:
            try:
                answer = await awaitable
            except asyncio.CancelledError:
                if request.audit is not None:
                    request.audit.complete()
                raise
            waiting = self._answered(request, answer)
            if waiting is not None:
                await waiting
            return answer

        async def after(answer: Answer, waiting: Awaitable[Any]) -> Answer:
            await waiting
            return answer

        return audited

    def _answered(self, request: Request, answer: Any) -> Awaitable[Any] | None:
        """Notes an answer, and its end unless it goes on; gives what the client has to wait for."""
        trail: Trail | None = request.audit
        if trail is None:
            return self._refused(request, answer) if request.user is None else None
        trail.answered(answer, 101 if isinstance(answer, Upgrade) else answer.status)
        waits: list[Done] = []
        info = request.request_info
        if info.verb in _LONG_VERBS or info.subresource in _LONG_SUBRESOURCES:
            waits.append(trail.note("ResponseStarted"))
        if isinstance(answer, Stream):
            answer.on_end = trail.complete
        elif not isinstance(answer, Upgrade) or request.local is not None:
            waits.append(trail.complete())
        return _all(waits)

    def _refused(self, request: Request, answer: Any) -> Awaitable[Any] | None:
        """Notes that somebody could not say who they are."""
        trail = self._begin(request) if request.request_info is not None else None
        if trail is None:
            return None
        trail.answered(answer, answer.status)
        return _all([trail.note("ResponseStarted")])

    def render(self, out: Exposition) -> None:
        """The metrics of auditing."""
        out.family("apiserver_audit_event_total", "counter", "Events that were sent to the audit backends.")
        out.sample("apiserver_audit_event_total", (), self._events)
        out.family(
            "apiserver_audit_level_total", "counter", "Requests by the level that the audit policy gave."
        )
        for level, count in sorted(self._levels.items()):
            out.sample("apiserver_audit_level_total", [("level", level)], count)
        out.family(
            "apiserver_audit_requests_rejected_total", "counter", "Requests that could not be audited."
        )
        out.sample("apiserver_audit_requests_rejected_total", (), self._rejected)
        out.family("apiserver_audit_error_total", "counter", "Events that a backend lost.")
        for backend in self.backends:
            backend.render(out)


def _all(waits: list[Done]) -> Awaitable[Any] | None:
    waiting = [each for each in waits if not isinstance(each, bool)]
    return asyncio.gather(*waiting) if waiting else None
