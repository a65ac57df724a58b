"""What the scheduler counts, under upstream's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.metrics import Histogram
from pybernetes.scheduling.point_times import PointTimes

if TYPE_CHECKING:
    from pybernetes.control_plane.scheduler.scheduler import Scheduler

_PREFIX = "scheduler_"


def _powers(first: float, factor: float, count: int) -> tuple[float, ...]:
    return tuple(first * factor**power for power in range(count))


_ATTEMPT = _powers(0.001, 2, 15)


class SchedulerMetrics:
    """Counts and histograms of one scheduler."""

    def __init__(self) -> None:
        self.attempts: Counter[tuple[str, str]] = Counter()  # by result and profile
        self.attempt_seconds: dict[tuple[str, str], Histogram] = {}
        self.decision_seconds = Histogram(_ATTEMPT)
        self.pod_attempts = Histogram(_powers(1, 2, 5))
        self.pod_seconds: dict[str, Histogram] = {}  # by number of attempts
        self.preemption_attempts = 0
        self.victims = Histogram(_powers(1, 2, 7))
        self.budget_violations = 0
        self.permit_seconds: dict[str, Histogram] = {}  # by result

    def attempt(self, result: str, profile: str, seconds: float) -> None:
        """Count an attempt to schedule a pod."""
        key = result, profile
        self.attempts[key] += 1
        histogram = self.attempt_seconds.get(key)
        if histogram is None:
            histogram = self.attempt_seconds[key] = Histogram(_ATTEMPT)
        histogram.leave(seconds)

    def decided(self, seconds: float) -> None:
        """Count the time that a decision took."""
        self.decision_seconds.leave(seconds)

    def bound(self, profile: str, attempts: int, seconds: float, waited: float) -> None:
        """Count a pod that was bound: how often it was tried, how long this attempt took and how long it waited."""
        self.attempt("scheduled", profile, seconds)
        self.pod_attempts.leave(attempts)
        label = str(attempts) if attempts < 15 else "15+"
        histogram = self.pod_seconds.get(label)
        if histogram is None:
            histogram = self.pod_seconds[label] = Histogram(_powers(0.01, 2, 20))
        histogram.leave(waited)

    def preempted(self, victims: int, violations: int) -> None:
        """Count an attempt to find room by evicting pods."""
        self.preemption_attempts += 1
        if victims:
            self.victims.observe(victims)
            self.budget_violations += violations

    def waited(self, result: str, seconds: float) -> None:
        """Count how long a pod waited for a plugin to permit it."""
        self.permit_seconds.setdefault(result, Histogram(_ATTEMPT)).observe(seconds)

    def write(self, text: Exposition, scheduler: Scheduler) -> None:
        """Write all metrics in Prometheus' text format."""
        _counter(text, "schedule_attempts_total", ("result", "profile"), self.attempts,
                 "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be "
                 "scheduled, while 'error' means an internal scheduler problem.")  # fmt: skip
        text.family(f"{_PREFIX}scheduling_attempt_duration_seconds", "histogram",
                    "Scheduling attempt latency in seconds (scheduling algorithm + binding)")  # fmt: skip
        for (result, profile), histogram in sorted(self.attempt_seconds.items()):
            _histogram(
                text,
                "scheduling_attempt_duration_seconds",
                (("result", result), ("profile", profile)),
                histogram,
            )
        text.family(f"{_PREFIX}scheduling_algorithm_duration_seconds", "histogram",
                    "Scheduling algorithm latency in seconds")  # fmt: skip
        _histogram(text, "scheduling_algorithm_duration_seconds", (), self.decision_seconds)
        text.family(f"{_PREFIX}pod_scheduling_attempts", "histogram",
                    "Number of attempts to successfully schedule a pod.")  # fmt: skip
        _histogram(text, "pod_scheduling_attempts", (), self.pod_attempts)
        text.family(f"{_PREFIX}pod_scheduling_sli_duration_seconds", "histogram",
                    "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and "
                    "might involve multiple scheduling attempts.")  # fmt: skip
        for attempts, histogram in sorted(self.pod_seconds.items()):
            _histogram(text, "pod_scheduling_sli_duration_seconds", (("attempts", attempts),), histogram)
        text.family(f"{_PREFIX}preemption_attempts_total", "counter",
                    "Total preemption attempts in the cluster till now")  # fmt: skip
        text.sample(f"{_PREFIX}preemption_attempts_total", (), self.preemption_attempts)
        text.family(f"{_PREFIX}preemption_victims", "histogram",
                    "Number of selected preemption victims for preemption initiated by a single pod")  # fmt: skip
        _histogram(text, "preemption_victims", (), self.victims)
        _counter(text, "preemption_pdb_violations_total", ("preemptor",), {("pod",): self.budget_violations},
                 "Total number of pod disruption budget violations caused by preemption.")  # fmt: skip
        text.family(f"{_PREFIX}permit_wait_duration_seconds", "histogram", "Duration of waiting on permit.")
        for result, histogram in sorted(self.permit_seconds.items()):
            _histogram(text, "permit_wait_duration_seconds", (("result", result),), histogram)
        _write_times(text, {name: cycle.times for name, cycle in scheduler.cycles.items()})
        evaluations = {
            (point, plugin, profile): count
            for profile, cycle in scheduler.cycles.items()
            for (plugin, point), count in cycle.times.plugin_evaluations(
                tuple(plugin.name for plugin in cycle.profile.pre_filters)
            ).items()
        }
        _counter(text, "plugin_evaluation_total", ("extension_point", "plugin", "profile"), evaluations,
                 "Number of attempts to schedule pods by each plugin and the extension point (available only in "
                 "PreFilter, Filter, PreScore, and Score).")  # fmt: skip
        self._write_state(text, scheduler)

    def _write_state(self, text: Exposition, scheduler: Scheduler) -> None:
        queue = scheduler.queue
        _counter(text, "pending_pods", ("queue",), {(name,): count for name, count in queue.counts.items()},
                 "Number of pending pods, by the queue type.", "gauge")  # fmt: skip
        incoming = {(queued, event): count for (event, queued), count in queue.incoming.items()}
        _counter(text, "queue_incoming_pods_total", ("queue", "event"), incoming,
                 "Number of pods added to scheduling queues by event and queue type.")  # fmt: skip
        _counter(text, "unschedulable_pods", ("plugin", "profile"), queue.refused(),
                 "The number of unschedulable pods broken down by plugin name.", "gauge")  # fmt: skip
        placed = int(scheduler.snapshot.pod_count.sum())
        sizes = {
            ("nodes",): scheduler.snapshot.node_count,
            ("pods",): placed,
            ("assumed_pods",): len(scheduler.assumed),
        }
        _counter(text, "cache_size", ("type",), sizes,
                 "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", "gauge")  # fmt: skip


def _write_times(text: Exposition, profiles: Mapping[str, PointTimes]) -> None:
    """Write how long plugins take; what profiles have in common is one series, as upstream has it."""
    name = "framework_extension_point_duration_seconds"
    text.family(
        f"{_PREFIX}{name}", "histogram", "Latency for running all plugins of a specific extension point."
    )
    for profile, times in profiles.items():
        for (point, status), histogram in sorted(times.points.items()):
            if not histogram.number:
                continue
            labels = (("extension_point", point), ("profile", profile), ("status", status))
            _histogram(text, name, labels, histogram)
    name, merged = "plugin_execution_duration_seconds", dict[tuple[str, str, str], Histogram]()
    for times in profiles.values():
        for key, histogram in times.plugins.items():
            merged.setdefault(key, Histogram(histogram.bounds)).add(histogram)
    text.family(
        f"{_PREFIX}{name}", "histogram", "Duration for running a plugin at a specific extension point."
    )
    for (plugin, point, status), histogram in sorted(merged.items()):
        labels = (("extension_point", point), ("plugin", plugin), ("status", status))
        _histogram(text, name, labels, histogram)


def _counter(
    text: Exposition, name: str, labels: tuple[str, ...], values: object, help_: str, kind: str = "counter"
) -> None:
    text.family(f"{_PREFIX}{name}", kind, help_)
    assert isinstance(values, dict)
    for key, value in sorted(values.items()):
        text.sample(f"{_PREFIX}{name}", tuple(zip(labels, key, strict=True)), value)


def _histogram(text: Exposition, name: str, labels: tuple[tuple[str, str], ...], values: Histogram) -> None:
    text.histogram(f"{_PREFIX}{name}", labels, values)
