"""PrioritySort: pods of higher priority first, and of those, who waits longest."""

from __future__ import annotations

from pybernetes.scheduling.plugin import Plugin
from pybernetes.scheduling.pods import Pod


class PrioritySort(Plugin):
    """Gives the order of the queue."""

    name = "PrioritySort"
    points = ("queueSort",)

    @staticmethod
    def key(pod: Pod, since: float) -> tuple[int, float]:
        """Return the sort key of a pod that has waited since a moment; the smallest comes first."""
        return -pod.priority, since


PLUGIN = PrioritySort
