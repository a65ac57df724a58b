"""PrioritySort: pods of higher priority first, and of those, who waits longest."""

from __future__ import annotations

from pybernetes.scheduling.plugin import QueueSortPlugin
from pybernetes.scheduling.pods import Pod


class PrioritySort(QueueSortPlugin):
    """Sorts the queue."""

    name = "PrioritySort"
    points = ("queueSort",)

    def sort_key(self, pod: Pod, since: float) -> tuple[int, float]:
        return -pod.priority, since


PLUGIN = PrioritySort
