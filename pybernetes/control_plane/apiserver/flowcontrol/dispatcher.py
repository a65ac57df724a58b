"""Gives requests their turn: finds the flow and the priority level of each."""

from __future__ import annotations

from typing import Any, NamedTuple

from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.flowcontrol.configuration import FlowControlConfiguration
from pybernetes.control_plane.apiserver.flowcontrol.flow_schema import FlowSchema
from pybernetes.control_plane.apiserver.flowcontrol.priority_level import (
    WAIT_BOUNDS,
    PriorityLevel,
    Ticket,
)
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.fair_turns import Owner
from pybernetes.lib.memory.forgetting import on_forget
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram

_MOST_KNOWN = 10_000
# Paths are what clients make up: longer ones are looked up each time.
_LONGEST_KNOWN = 512


class Classification(NamedTuple):
    """Schema and level of a request, the headers that tell the client, whether it takes a seat, and who asks."""

    schema: FlowSchema
    level: PriorityLevel
    headers: bytes
    takes_seat: bool
    owner: Owner


class Dispatcher:
    """Classifies requests and has them wait where they must."""

    def __init__(self, configuration: FlowControlConfiguration) -> None:
        self._configuration = configuration
        self._known: dict[Any, Classification | None] = {}
        self._version = -1
        on_forget(self._forget)

    def _forget(self) -> None:
        self._known.clear()

    def arrive(self, request: Request) -> Ticket | None:
        """Return the ticket of a request, or None if it needs no seat; Rejected if there is no room."""
        if request.local is not None:
            off_loop.on_behalf_of(off_loop.owner("", request.user.name))
            return None  # a part of this process does not flood it
        info = request.request_info
        classified = self._classify(request.user, info)
        if classified is None:
            return None
        schema, level, request.flow, takes_seat, owner = classified
        off_loop.on_behalf_of(owner)
        if not takes_seat:
            return None
        return level.arrive(schema.name, schema.flow(request.user, info), request.started)

    def _classify(self, user: User, info: RequestInfo) -> Classification | None:
        if self._version != self._configuration.version:
            self._known.clear()
            self._version = self._configuration.version
        key = (user.name, user.groups, info.verb, info.group, info.resource, info.subresource, info.namespace,
               info.is_resource or info.path)  # fmt: skip
        try:
            return self._known[key]
        except KeyError:
            pass
        classified = self._look_up(user, info)
        if len(info.path) <= _LONGEST_KNOWN:
            if len(self._known) >= _MOST_KNOWN:
                self._forget()
            self._known[key] = classified
        return classified

    def _look_up(self, user: User, info: RequestInfo) -> Classification | None:
        for schema in self._configuration.schemas:
            if schema.matches(user, info):
                level = self._configuration.levels[schema.level]
                headers = f"X-Kubernetes-Pf-Flowschema-Uid: {schema.uid}\r\nX-Kubernetes-Pf-Prioritylevel-Uid: {level.uid}\r\n"
                # A watch holds a seat until it is open; what else goes on would hold one for too long.
                takes_seat = not level.exempt and (info.verb == "watch" or not info.long_running)
                owner = off_loop.owner(level.name, user.name)
                return Classification(schema, level, headers.encode(), takes_seat, owner)
        return None

    def _render_waits(self, out: Exposition, name: str) -> None:
        """Write how long requests waited; those that started at once did not, and are counted without being timed."""
        out.family(name, "histogram", "Seconds that requests waited in their queues.")
        for level in self._configuration.levels.values():
            for schema, started in {*((schema, True) for schema in level.dispatched), *level.waits}:
                waits = Histogram(WAIT_BOUNDS)
                if (schema, started) in level.waits:
                    waits.add(level.waits[schema, started])
                if started:
                    waits.observe(0, max(0, level.dispatched[schema] - waits.number))
                labels = [
                    ("execute", str(started).lower()), ("flow_schema", schema), ("priority_level", level.name)
                ]  # fmt: skip
                out.histogram(name, labels, waits)

    def render(self, out: Exposition) -> None:
        """Write the metrics of flow control, under upstream's names."""
        prefix, levels = "apiserver_flowcontrol", self._configuration.levels.values()
        out.family(f"{prefix}_nominal_limit_seats", "gauge", "Seats that a level has of its own.")
        for level in levels:
            out.sample(f"{prefix}_nominal_limit_seats", [("priority_level", level.name)], level.nominal)
        # A request takes one seat, so that requests and seats are the same numbers.
        for state, text in (
            ("executing", "that are being answered"),
            ("inqueue", "that wait for their turn"),
        ):
            for noun in ("requests", "seats"):
                name = f"{prefix}_current_{state}_{noun}"
                out.family(name, "gauge", f"Requests, or their seats, {text}.")
                for level in levels:
                    waiting = level.waiting()
                    for schema in dict.fromkeys((*level.dispatched, *waiting)):
                        value = level.executing_of(schema) if state == "executing" else waiting[schema]
                        out.sample(name, [("flow_schema", schema), ("priority_level", level.name)], value)
        out.family(f"{prefix}_dispatched_requests_total", "counter", "Requests that started.")
        for level in levels:
            for schema, count in level.dispatched.items():
                labels = [("flow_schema", schema), ("priority_level", level.name)]
                out.sample(f"{prefix}_dispatched_requests_total", labels, count)
        self._render_waits(out, f"{prefix}_request_wait_duration_seconds")
        out.family(f"{prefix}_rejected_requests_total", "counter", "Requests that there was no room for.")
        for level in levels:
            for (schema, reason), count in level.rejected.items():
                labels = [("flow_schema", schema), ("priority_level", level.name), ("reason", reason)]
                out.sample(f"{prefix}_rejected_requests_total", labels, count)
