"""What the controller counts, under upstream's names."""

from __future__ import annotations

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.metrics import Histogram

_BOUNDS = tuple(0.001 * 2**power for power in range(16))
_PREFIX = "horizontal_pod_autoscaler_controller"


class OwnMetrics:
    """Counts of reconciliations and of metrics that were computed, by action and error."""

    def __init__(self) -> None:
        self._reconciliations: dict[tuple[str, str], Histogram] = {}
        self._computations: dict[tuple[str, str, str], Histogram] = {}
        self.desired: dict[str, int] = {}  # by the keys of autoscalers

    def reconciled(self, action: str, error: str, seconds: float) -> None:
        """Count a reconciliation."""
        self._reconciliations.setdefault((action, error), Histogram(_BOUNDS)).observe(seconds)

    def computed(self, action: str, error: str, kind: str, seconds: float) -> None:
        """Count a metric."""
        self._computations.setdefault((action, error, kind), Histogram(_BOUNDS)).observe(seconds)

    def write(self, text: Exposition) -> None:
        """Write everything as text."""
        if not self._reconciliations:
            return
        name = f"{_PREFIX}_desired_replicas"
        text.family(name, "gauge", "[ALPHA] Current desired replica count for HPA objects.")
        for key, replicas in self.desired.items():
            namespace, _, hpa = key.partition("/")
            text.sample(name, (("hpa_name", hpa), ("namespace", namespace)), replicas)
        name = f"{_PREFIX}_num_horizontal_pod_autoscalers"
        text.family(name, "gauge", "[ALPHA] Current number of controlled HPA objects.")
        text.sample(name, (), len(self.desired))
        noun = f"{_PREFIX}_reconciliation"
        text.family(f"{noun}s_total", "counter", "[ALPHA] Number of reconciliations of HPA controller.")
        for (action, error), histogram in self._reconciliations.items():
            text.sample(f"{noun}s_total", (("action", action), ("error", error)), histogram.number)
        text.family(f"{noun}_duration_seconds", "histogram",
                    "[ALPHA] The time(seconds) that the HPA controller takes to reconcile once.")  # fmt: skip
        for (action, error), histogram in self._reconciliations.items():
            text.histogram(f"{noun}_duration_seconds", (("action", action), ("error", error)), histogram)  # fmt: skip
        noun = f"{_PREFIX}_metric_computation"
        text.family(f"{noun}_total", "counter", "[ALPHA] Number of metric computations.")
        for (action, error, kind), histogram in self._computations.items():
            labels = (("action", action), ("error", error), ("metric_type", kind))
            text.sample(f"{noun}_total", labels, histogram.number)
        text.family(f"{noun}_duration_seconds", "histogram",
                    "[ALPHA] The time(seconds) that the HPA controller takes to calculate one metric.")  # fmt: skip
        for (action, error, kind), histogram in self._computations.items():
            labels = (("action", action), ("error", error), ("metric_type", kind))
            text.histogram(f"{noun}_duration_seconds", labels, histogram)
