"""What the descheduler counts, under upstream's names, those of old included."""

from __future__ import annotations

from collections import Counter

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.metrics import Histogram

_STRATEGY = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100)
_LOOP = (*_STRATEGY, 250, 500)
_EVICTED = (
    "Number of total evicted pods, by the result, by the strategy, by the namespace, by the node name. "
    "'error' result means a pod could not be evicted"
)
_LABELS = ("result", "strategy", "profile", "namespace", "node")


class DeschedulerMetrics:
    """Counts and histograms of one descheduler."""

    def __init__(self, version: str) -> None:
        self._version = version
        self.evicted: Counter[tuple[str, ...]] = Counter()  # by the labels above
        self.loops = Histogram(_LOOP)
        self.strategies: dict[tuple[str, str], Histogram] = {}  # by strategy and profile

    def count(self, result: str, strategy: str, profile: str, namespace: str, node: str) -> None:
        """Count what became of an eviction."""
        self.evicted[result, strategy, profile, namespace, node] += 1

    def strategy(self, name: str, profile: str, seconds: float) -> None:
        """Count the time that a strategy took."""
        self.strategies.setdefault((name, profile), Histogram(_STRATEGY)).observe(seconds)

    def write(self, text: Exposition) -> None:
        """Write all metrics in Prometheus' text format."""
        for name in ("descheduler_pods_evicted", "descheduler_pods_evicted_total"):
            text.family(name, "counter", _EVICTED)
            for key, count in sorted(self.evicted.items()):
                text.sample(name, tuple(zip(_LABELS, key, strict=True)), count)
        text.family("descheduler_build_info", "gauge", "Build info about descheduler, including its version")
        major, minor = self._version.removeprefix("v").split(".")[:2]
        labels = (("AppVersion", f"{major}.{minor}"), ("DeschedulerVersion", self._version))
        text.sample("descheduler_build_info", labels, 1)
        for name in ("descheduler_descheduler_loop_duration_seconds", "descheduler_loop_duration_seconds"):
            text.family(name, "histogram", "Time taken to complete a full descheduling cycle")
            text.histogram(name, (), self.loops)
        for name in (
            "descheduler_descheduler_strategy_duration_seconds",
            "descheduler_strategy_duration_seconds",
        ):
            text.family(
                name, "histogram", "Time taken to complete Each strategy of the descheduling operation"
            )
            for (strategy, profile), histogram in sorted(self.strategies.items()):
                both = (("strategy", strategy), ("profile", profile))
                text.histogram(name, both, histogram)
