"""Metrics about the kubelet's own work, under upstream's names."""

from __future__ import annotations

from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.lib.metrics.exposition import Exposition, Labels
from pybernetes.runtime.metrics import Histogram

_OPERATION_BOUNDS = tuple(0.005 * 2.5**power for power in range(14))
_START_BOUNDS = (0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700,
                 3600)  # fmt: skip
_VOLUME_BOUNDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600)
_USUAL_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
COUNTERS = {
    "kubelet_runtime_operations_total": "[ALPHA] Cumulative number of runtime operations by operation type.",
    "kubelet_runtime_operations_errors_total": "[ALPHA] Cumulative number of runtime operation errors by operation type.",
    "kubelet_started_pods_total": "[ALPHA] Cumulative number of pods started",
    "kubelet_started_pods_errors_total": "[ALPHA] Cumulative number of errors when starting pods",
    "kubelet_started_containers_total": "[ALPHA] Cumulative number of containers started",
    "kubelet_started_containers_errors_total": "[ALPHA] Cumulative number of errors when starting containers",
    "kubelet_run_podsandbox_errors_total": "[ALPHA] Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.",
    "kubelet_http_requests_total": "[ALPHA] Number of the http requests received since the server started",
    "kubelet_terminated_containers_total": "[ALPHA] Cumulative number of container terminations.",
    "kubelet_evictions": "[ALPHA] Cumulative number of pod evictions by eviction signal",
    "kubelet_preemptions": "[ALPHA] Cumulative number of pod preemptions by preemption resource",
    "kubelet_image_garbage_collected_total": "[ALPHA] Total number of images garbage collected by the kubelet, whether through disk usage or image age.",
    "kubelet_image_volume_requested_total": "[BETA] Number of requested image volumes.",
    "kubelet_image_volume_mounted_succeed_total": "[BETA] Number of successful image volume mounts.",
    "kubelet_image_volume_mounted_errors_total": "[BETA] Number of failed image volume mounts.",
    "kubelet_admission_rejections_total": "[ALPHA] Cumulative number pod admission rejections by the Kubelet.",
}  # fmt: skip
# These are there from the start; of the others each combination of labels when it was first seen.
_WITHOUT_LABELS = frozenset(
    ("kubelet_started_pods_total", *(name for name in COUNTERS if name.startswith("kubelet_image_volume_")))
)
HISTOGRAMS = {
    "kubelet_runtime_operations_duration_seconds": (
        "[ALPHA] Duration in seconds of runtime operations. Broken down by operation type.",
        _OPERATION_BOUNDS,
    ),
    "kubelet_pod_start_duration_seconds": (
        "[ALPHA] Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run",
        _START_BOUNDS,
    ),
    "kubelet_pod_worker_duration_seconds": (
        "[ALPHA] Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync",
        _USUAL_BOUNDS,
    ),
    "kubelet_pod_worker_start_duration_seconds": (
        "[ALPHA] Duration in seconds from kubelet seeing a pod to starting a worker.",
        _USUAL_BOUNDS,
    ),
    "kubelet_run_podsandbox_duration_seconds": (
        "[ALPHA] Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.",
        _USUAL_BOUNDS,
    ),
    "kubelet_containers_per_pod_count": ("[ALPHA] The number of containers per pod.", (1, 2, 4, 8, 16)),
    "kubelet_http_requests_duration_seconds": (
        "[ALPHA] Duration in seconds to serve http requests",
        _USUAL_BOUNDS,
    ),
    "kubelet_pleg_relist_duration_seconds": (
        "[ALPHA] Duration in seconds for relisting pods in PLEG.",
        _USUAL_BOUNDS,
    ),
    "kubelet_pleg_relist_interval_seconds": (
        "[ALPHA] Interval in seconds between relisting in PLEG.",
        _USUAL_BOUNDS,
    ),
    "kubelet_pod_start_sli_duration_seconds": (
        "[ALPHA] Duration in seconds to start a pod, excluding time to pull images and run init containers, measured from"
        " pod creation timestamp to when all its containers are reported as started and observed via watch",
        _START_BOUNDS,
    ),
    "kubelet_pod_start_total_duration_seconds": (
        "[ALPHA] Duration in seconds to start a pod since creation, including time to pull images and run init"
        " containers, measured from pod creation timestamp to when all its containers are reported as started"
        " and observed via watch",
        _START_BOUNDS,
    ),
    "storage_operation_duration_seconds": ("[BETA] Storage operation duration", _VOLUME_BOUNDS),
    "volume_operation_total_seconds": (
        "[BETA] Storage operation end to end duration in seconds",
        _VOLUME_BOUNDS,
    ),
}


@dataclass(slots=True)
class KubeletMetrics:
    """Counters and histograms by name and labels."""

    counters: dict[str, dict[Labels, float]] = field(default_factory=dict)
    histograms: dict[str, dict[Labels, Histogram]] = field(default_factory=dict)

    def add(self, name: str, *labels: tuple[str, str], by: float = 1) -> None:
        """Increase a counter."""
        values = self.counters.setdefault(name, {})
        values[labels] = values.get(labels, 0) + by

    def observe(self, name: str, value: float, *labels: tuple[str, str]) -> None:
        """Record a value in a histogram."""
        histograms = self.histograms.setdefault(name, {})
        if labels not in histograms:
            histograms[labels] = Histogram(HISTOGRAMS[name][1])
        histograms[labels].observe(value)

    def runtime_call(self, operation: str, seconds: float, failed: bool) -> None:
        """Record a call of the container runtime."""
        label = ("operation_type", operation)
        self.add("kubelet_runtime_operations_total", label)
        self.observe("kubelet_runtime_operations_duration_seconds", seconds, label)
        if failed:
            self.add("kubelet_runtime_operations_errors_total", label)
        if operation == "run_podsandbox":
            self.add(f"kubelet_started_pods_{'errors_' if failed else ''}total")

    def terminated(self, kind: str, state: Object) -> None:
        """Count a container of a kind that ended, with the state that its status tells."""
        labels = (("container_type", kind), ("exit_code", str(state.get("exitCode", 0))), ("reason", state.get("reason", "")))  # fmt: skip
        self.add("kubelet_terminated_containers_total", *labels)

    def render(self, text: Exposition) -> None:
        """Write all counters and histograms."""
        for name, help_ in sorted(COUNTERS.items()):
            values = self.counters.get(name, {(): 0} if name in _WITHOUT_LABELS else {})
            if values:
                text.family(name, "counter", help_)
                for labels, value in values.items():
                    text.sample(name, labels, value)
        for name, (help_, _) in sorted(HISTOGRAMS.items()):
            if name in self.histograms:
                text.family(name, "histogram", help_)
                for labels, histogram in self.histograms[name].items():
                    text.histogram(name, labels, histogram)
