"""The audit log of one server: decides how much is noted of a request, and sends events to the backends.

``pipeline/steps/audit.py`` opens and completes the events.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from typing import Protocol

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.audit import event as form
from pybernetes.control_plane.apiserver.audit.policy import LEVELS, NONE, Policy
from pybernetes.control_plane.apiserver.audit.trail import Done, Trail
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.metrics.exposition import Exposition


class Backend(Protocol):
    """Where events go."""

    def take(self, event: form.Event, line: bytes) -> Done:
        """Take an event; return whether it could, and take time if requests are to wait for it."""

    async def start(self) -> None:
        """Get ready."""

    async def close(self) -> None:
        """Send what is still waiting."""

    def render(self, out: Exposition) -> None:
        """Write the metrics of the backend."""


class Auditor:
    """A policy and the backends."""

    def __init__(self, policy: Policy, backends: Sequence[Backend]) -> None:
        self._policy, self.backends = policy, tuple(backends)
        self._levels: Counter[str] = Counter()
        self._events = self._rejected = 0

    async def start(self) -> None:
        """Get the backends ready."""
        for backend in self.backends:
            await backend.start()

    async def close(self) -> None:
        """Send what is still waiting."""
        await asyncio.gather(*(backend.close() for backend in self.backends))

    def begin(self, request: Request) -> Trail | None:
        """Return the trail of a request, or None if the policy wants nothing noted of it."""
        depth = self._policy.depth(request.user, request.request_info)
        self._levels[LEVELS[depth.level]] += 1
        return Trail(self.send, request, depth) if depth.level != NONE else None

    def require(self, noted: bool) -> None:
        """Refuse a request that could not be noted."""
        if not noted:
            self._rejected += 1
            raise errors.internal("failed to store audit event")

    def send(self, event: form.Event) -> Done:
        """Give an event to every backend; False if one that insists could not take it."""
        self._events += 1
        line = form.encode(event)
        results = [backend.take(event, line) for backend in self.backends]
        waiting = [result for result in results if not isinstance(result, bool)]
        if waiting:
            return self._wait(waiting, all(result for result in results if isinstance(result, bool)))
        return all(results)

    async def _wait(self, waiting: list[Awaitable[bool]], good: bool) -> bool:
        return all(await asyncio.gather(*waiting)) and good

    def render(self, out: Exposition) -> None:
        """Write the metrics of auditing."""
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
