"""Evictions in background: requests that somebody else carries out, such as moving a virtual machine first."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from pybernetes.control_plane.descheduler.metrics import DeschedulerMetrics
from pybernetes.control_plane.descheduler.pod_records import (
    EVICTION_IN_PROGRESS,
    HAS_ENDED,
    HAS_FAILED,
    REQUESTS_EVICTION,
    PodRecord,
)

# How the answer to a request reads that was taken up: 429, with this text in its message.
TAKEN_UP = "Eviction triggered evacuation"
ASSUMED_SECONDS = 600.0  # how long a request that was taken up may show no progress
EXPIRY_SECONDS = 600.0  # between two looks for such requests


class Request(NamedTuple):
    """A pod that is to go; ``since`` and on whose account are known of those that this descheduler asked for."""

    record: PodRecord
    strategy: str = ""
    profile: str = ""
    since: float | None = None


class EvictionRequests:
    """The requests under way; they count as evictions where the policy has limits."""

    def __init__(self, metrics: DeschedulerMetrics) -> None:
        self._metrics = metrics
        self._requests: dict[str, Request] = {}  # by the pod's UID
        self.nodes: Counter[str] = Counter()
        self.namespaces: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self._requests)

    def covers(self, record: PodRecord) -> bool:
        """Return whether a pod's eviction was asked for already."""
        return bool(record.flags & REQUESTS_EVICTION) and record.pod.uid in self._requests

    def assume(self, record: PodRecord, strategy: str, profile: str, now: float) -> None:
        """Count a request that was taken up; who asked first is who asked."""
        known = self._requests.get(record.pod.uid)
        if known is None or known.since is None:
            self._add(Request(record, strategy, profile, now))

    def follow(self, old: PodRecord | None, new: PodRecord | None) -> None:
        """Take note of a change to a pod: its annotations say whether somebody is at work on it."""
        if old is not None and new is not None and old.pod.uid != new.pod.uid:
            self.follow(old, None)
            old = None
        if new is None:
            if old is not None:
                self._finish(old, "success")
        elif not new.flags & REQUESTS_EVICTION:
            self._remove(new)
        elif new.flags & HAS_ENDED:
            self._finish(new, "error" if new.flags & HAS_FAILED else "success")
        elif new.flags & EVICTION_IN_PROGRESS:
            if new.pod.uid not in self._requests:
                self._add(Request(new))
        elif old is not None and old.flags & EVICTION_IN_PROGRESS:
            self._remove(new)  # it was called off, and may be asked for again

    def expire(self, now: float) -> None:
        """Forget requests of which nothing was heard for too long."""
        late = [
            request
            for request in self._requests.values()
            if request.since is not None and now - request.since > ASSUMED_SECONDS
        ]
        for request in late:
            self._finish(request.record, "error")

    def _add(self, request: Request) -> None:
        pod = request.record.pod
        if pod.uid not in self._requests:
            self.nodes[pod.node] += 1
            self.namespaces[pod.namespace] += 1
        self._requests[pod.uid] = request

    def _remove(self, record: PodRecord) -> Request | None:
        request = self._requests.pop(record.pod.uid, None)
        if request is not None:
            for counter, key in (
                (self.nodes, request.record.pod.node),
                (self.namespaces, request.record.pod.namespace),
            ):
                counter[key] -= 1
                if not counter[key]:
                    del counter[key]
        return request

    def _finish(self, record: PodRecord, result: str) -> None:
        request = self._remove(record)
        if request is not None and request.since is not None:
            pod = request.record.pod
            self._metrics.count(result, request.strategy, request.profile, pod.namespace, pod.node)
