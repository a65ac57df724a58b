"""The step of the chain that gives requests their turn."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.flowcontrol.configuration import FlowControlConfiguration
from pybernetes.control_plane.apiserver.flowcontrol.flow_schema import FlowSchema
from pybernetes.control_plane.apiserver.flowcontrol.priority_level import PriorityLevel, Rejected, Ticket
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.lib.exposition import Exposition
from pybernetes.lib.http.messages import Response

_LONG = frozenset(("log", "exec", "attach", "portforward", "proxy"))
_MOST_KNOWN = 20_000
_TOO_MANY = Response(
    b"Too many requests, please try again later.\n",
    429,
    b"text/plain; charset=utf-8",
    ((b"Retry-After", b"1"), (b"X-Content-Type-Options", b"nosniff")),
)


class Class(NamedTuple):
    """What a request was found to be, and the headers that tell the client."""

    schema: FlowSchema
    level: PriorityLevel
    headers: bytes


class Dispatcher:
    """Classifies requests and has them wait where they must."""

    def __init__(self, configuration: FlowControlConfiguration) -> None:
        self._configuration = configuration
        self._known: dict[Any, Class | None] = {}
        self._version = -1

    def step(self, request: Request) -> Any:
        """Lets a request pass, or wait, or go."""
        if request.local is not None:
            return None  # a part of this process does not flood it
        info = request.request_info
        found = self._classify(request.user, info)
        if found is None:
            return None
        schema, level, request.flow = found
        if level.exempt or info.subresource in _LONG:
            return None
        try:
            ticket = level.arrive(schema.name, schema.flow(request.user, info), request.started)
        except Rejected:
            return _TOO_MANY
        request.ticket = ticket
        return None if ticket.waiter is None else self._wait(request, ticket)

    async def _wait(self, request: Request, ticket: Ticket) -> Response | None:
        assert ticket.waiter is not None
        try:
            await ticket.waiter
        except Rejected:
            request.ticket = None
            return _TOO_MANY
        request.started = time.monotonic()
        return None

    def _classify(self, user: User, info: RequestInfo) -> Class | None:
        if self._version != self._configuration.version:
            self._known.clear()
            self._version = self._configuration.version
        key = (user, info.verb, info.group, info.resource, info.subresource, info.namespace,
               info.is_resource or info.path)  # fmt: skip
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        found = self._known[key] = self._look_up(user, info)
        return found

    def _look_up(self, user: User, info: RequestInfo) -> Class | None:
        for schema in self._configuration.schemas:
            if schema.matches(user, info):
                level = self._configuration.levels[schema.level]
                headers = f"X-Kubernetes-Pf-Flowschema-Uid: {schema.uid}\r\nX-Kubernetes-Pf-Prioritylevel-Uid: {level.uid}\r\n"
                return Class(schema, level, headers.encode())
        return None

    def render(self, out: Exposition) -> None:
        """The metrics of flow control, under upstream's names."""
        prefix, levels = "apiserver_flowcontrol", self._configuration.levels.values()
        gauges = (
            ("nominal_limit_seats", "Seats that a level has of its own.", lambda level: level.nominal),
            ("current_executing_seats", "Seats that are taken.", lambda level: level.executing),
            ("current_inqueue_seats", "Seats that are waited for.",
             lambda level: level.queues.waiting if level.queues else 0),
        )  # fmt: skip
        for name, text, value in gauges:
            out.family(f"{prefix}_{name}", "gauge", text)
            for level in levels:
                out.sample(f"{prefix}_{name}", [("priority_level", level.name)], value(level))
        out.family(f"{prefix}_dispatched_requests_total", "counter", "Requests that started.")
        for level in levels:
            for schema, count in level.dispatched.items():
                labels = [("flow_schema", schema), ("priority_level", level.name)]
                out.sample(f"{prefix}_dispatched_requests_total", labels, count)
        out.family(f"{prefix}_rejected_requests_total", "counter", "Requests that there was no room for.")
        for level in levels:
            for (schema, reason), count in level.rejected.items():
                labels = [("flow_schema", schema), ("priority_level", level.name), ("reason", reason)]
                out.sample(f"{prefix}_rejected_requests_total", labels, count)
