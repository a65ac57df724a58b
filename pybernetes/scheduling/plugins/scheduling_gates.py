"""SchedulingGates: a pod with gates waits until all of them are removed."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.scheduling.cluster_events import TARGET_POD, Action, Interest
from pybernetes.scheduling.plugin import Plugin


class SchedulingGates(Plugin):
    """The queue keeps pods with gates back; see ``queue.py``."""

    name = "SchedulingGates"
    points = ("preEnqueue",)

    def interests(self) -> Iterable[Interest]:
        return (Interest(TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED),)


PLUGIN = SchedulingGates
