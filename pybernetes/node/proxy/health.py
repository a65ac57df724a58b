"""Whether kube-proxy keeps up: the pages ``/healthz`` and ``/livez``."""

from __future__ import annotations

import json

from pybernetes.api.resource import Object
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.metrics.health_slis import HealthSlis
from pybernetes.lib.rfc3339 import micro

_LATER = ((b"Retry-After", b"1"),)
TO_BE_DELETED_TAINT = "ToBeDeletedByClusterAutoscaler"


class Health:
    """Remembers when rules were last written, and since when a change has been waiting to be."""

    def __init__(self, clock: Clock, timeout: float) -> None:
        self._clock, self._timeout = clock, timeout
        self._pending: float | None = None
        self._updated = clock.now()
        self._written = False  # whether there are rules at all
        self.node: Object | None = None
        self.slis = HealthSlis()
        self.answers: dict[tuple[str, int], int] = {}

    def queued(self) -> None:
        """Note that something has to be written."""
        if self._pending is None:
            self._pending = self._clock.monotonic()

    def updated(self) -> None:
        """Note that everything is written."""
        self._pending, self._updated, self._written = None, self._clock.now(), True

    @property
    def healthy(self) -> bool:
        """Whether nothing has been waiting for too long."""
        return self._pending is None or self._clock.monotonic() - self._pending < self._timeout

    @property
    def eligible(self) -> bool:
        """Whether load balancers may send traffic to this node."""
        if self.node is None or self.node["metadata"].get("deletionTimestamp"):
            return False
        taints = (self.node.get("spec") or {}).get("taints") or ()
        return all(taint.get("key") != TO_BE_DELETED_TAINT for taint in taints)

    def page(self, request: Request) -> Response:
        """Return the answer of ``/healthz`` or ``/livez``; only the former looks at the node.

        Unlike upstream's, a kube-proxy without rules yet asks load balancers for patience: they would send connections that
        nobody takes.
        """
        name = request.path.strip("/")
        begins = name == "healthz" and not self._written
        good = self.healthy and (name == "livez" or self.eligible) and not begins
        status = 200 if good else 503
        self.answers[name, status] = self.answers.get((name, status), 0) + 1
        self.slis.note("proxy", name, good)
        now = self._clock.now()
        body: Object = {
            "lastUpdated": micro(now if good else self._updated),
            "currentTime": micro(now),
            "healthy": self.healthy,
            "status": {"IPv4": {"lastUpdated": micro(self._updated), "healthy": self.healthy}},
        }
        if name == "healthz":
            body["nodeEligible"] = self.eligible
        return Response(json.dumps(body).encode(), status, headers=_LATER if begins else ())
