"""What controllers count, under upstream's names: work queues, reconciles, leader election."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from pybernetes.client.request_metrics import REQUESTS
from pybernetes.lib.clock import Clock
from pybernetes.lib.metrics.counts import Histogram as Histogram
from pybernetes.lib.metrics.exposition import Exposition

_QUEUE_BOUNDS = tuple(1e-8 * 10**power for power in range(10))
_RECONCILE_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
                     1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60)  # fmt: skip


class QueueMetrics:
    """The metrics of one queue."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.name, self._clock = name, clock
        self.adds = self.retries = 0
        self.waiting = Histogram(_QUEUE_BOUNDS)
        self.working = Histogram(_QUEUE_BOUNDS)
        self.waited: Callable[[float], None] = self.waiting.observe
        self.worked: Callable[[float], None] = self.working.observe
        self._ready: Collection[str] = ()
        self._working: Mapping[str, float] = {}

    def watch(self, ready: Collection[str], working: Mapping[str, float]) -> None:
        """Set where the queue keeps its keys, so that depth and running times need no counting."""
        self._ready, self._working = ready, working

    @property
    def depth(self) -> int:
        """How many keys wait."""
        return len(self._ready)

    def running(self) -> list[float]:
        """Return for how many seconds each key in work has been worked on."""
        now = self._clock.monotonic()
        return [now - since for since in self._working.values()]


class ReconcileMetrics:
    """The outcomes of one controller's reconciles, as controller-runtime names them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.results = {"success": 0, "error": 0, "requeue_after": 0}
        self.seconds = Histogram(_RECONCILE_BOUNDS)


class Metrics:
    """The metrics of a process that runs controllers."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self.queues: dict[str, QueueMetrics] = {}
        self.reconciles: dict[str, ReconcileMetrics] = {}
        self.leaders: dict[str, bool] = {}
        self.more: list[Callable[[Exposition], None]] = []
        self.native_histograms = True

    def queue(self, name: str) -> QueueMetrics:
        """Return the metrics of a queue."""
        return self.queues.setdefault(name, QueueMetrics(name, self._clock))

    def reconcile(self, name: str) -> ReconcileMetrics:
        """Return the metrics of a controller."""
        return self.reconciles.setdefault(name, ReconcileMetrics(name))

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        text = Exposition()
        self.write(text)
        return text.render()

    def write(self, text: Exposition) -> None:
        """Write all metrics."""
        queues = [(queue, (("name", queue.name),)) for queue in self.queues.values()]
        _family(text, "workqueue_adds_total", "counter", "Total number of adds handled by workqueue",
                ((labels, queue.adds) for queue, labels in queues))  # fmt: skip
        _family(text, "workqueue_depth", "gauge", "Current depth of workqueue",
                ((labels, queue.depth) for queue, labels in queues))  # fmt: skip
        _family(text, "workqueue_longest_running_processor_seconds", "gauge",
                "How many seconds has the longest running processor for workqueue been running.",
                ((labels, max(queue.running(), default=0)) for queue, labels in queues))  # fmt: skip
        _family(text, "workqueue_retries_total", "counter", "Total number of retries handled by workqueue",
                ((labels, queue.retries) for queue, labels in queues))  # fmt: skip
        _family(text, "workqueue_unfinished_work_seconds", "gauge",
                "How many seconds of work has done that is in progress and hasn't been observed by work_duration.",
                ((labels, sum(queue.running())) for queue, labels in queues))  # fmt: skip
        _histograms(text, "workqueue_queue_duration_seconds",
                    "How long in seconds an item stays in workqueue before being requested.",
                    ((labels, queue.waiting) for queue, labels in queues))  # fmt: skip
        _histograms(text, "workqueue_work_duration_seconds",
                    "How long in seconds processing an item from workqueue takes.",
                    ((labels, queue.working) for queue, labels in queues))  # fmt: skip
        loops = [(controller, controller.name) for controller in self.reconciles.values()]
        _family(text, "controller_runtime_reconcile_total", "counter",
                "Total number of reconciliations per controller",
                (((("controller", name), ("result", result)), count) for controller, name in loops
                 for result, count in controller.results.items()))  # fmt: skip
        _histograms(text, "controller_runtime_reconcile_time_seconds",
                    "Length of time per reconciliation per controller",
                    (((("controller", name),), controller.seconds) for controller, name in loops))  # fmt: skip
        _family(text, "leader_election_master_status", "gauge",
                "Whether this process holds the lease: 1 means that it does, 0 that it is a backup",
                (((("name", name),), int(held)) for name, held in self.leaders.items()))  # fmt: skip
        for more in self.more:
            more(text)
        REQUESTS.write(text)
        text.process()


def _family(text: Exposition, name: str, kind: str, help_: str, samples: Iterable[tuple[Any, float]]) -> None:
    text.family(name, kind, help_)
    for labels, value in samples:
        text.sample(name, labels, value)


def _histograms(text: Exposition, name: str, help_: str, samples: Iterable[tuple[Any, Histogram]]) -> None:
    text.family(name, "histogram", help_)
    for labels, histogram in samples:
        text.histogram(name, labels, histogram)
