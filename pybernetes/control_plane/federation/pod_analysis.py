"""What the pods of a workload in a member tell: how many run, and for how many there is no room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339


class Analysis(NamedTuple):
    """Pods that are ready, pods that found no room for long enough, and the seconds until another one does not."""

    ready: int
    unschedulable: int
    recheck: float | None

    def __add__(self, other: Analysis) -> Analysis:  # type: ignore[override]
        """Return what both tell together."""
        times = [time for time in (self.recheck, other.recheck) if time is not None]
        return Analysis(
            self.ready + other.ready, self.unschedulable + other.unschedulable, min(times, default=None)
        )


def analyse(pods: Iterable[Object], now: float, patience: float) -> Analysis:
    """Return what pods tell; one without room counts after some seconds, since the next moment may have some."""
    ready = unschedulable = 0
    recheck: float | None = None
    for pod in pods:
        status = pod.get("status") or {}
        for condition in status.get("conditions") or ():
            kind, value = condition.get("type"), condition.get("status")
            if kind == "Ready" and value == "True" and status.get("phase") == "Running":
                ready += 1
            elif kind == "PodScheduled" and value == "False" and condition.get("reason") == "Unschedulable":
                left = min(patience, _since(condition) + patience - now)
                if left <= 0:
                    unschedulable += 1
                else:
                    recheck = left if recheck is None else min(recheck, left)
    return Analysis(ready, unschedulable, recheck)


def _since(condition: Object) -> float:
    try:
        return rfc3339.parse(condition.get("lastTransitionTime") or "")
    except ValueError:
        return 0.0
