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
        """What a pod that waits since a moment is sorted by; the smallest comes first."""
        return -pod.priority, since


PLUGIN = PrioritySort
