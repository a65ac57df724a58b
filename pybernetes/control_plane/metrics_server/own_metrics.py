"""What metrics-server counts about itself, under upstream's names."""

from __future__ import annotations

from pybernetes.control_plane.metrics_server.storage import Storage
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.metrics import Histogram

_DEFAULT_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FRESHNESS_BOUNDS = tuple(1.364**power for power in range(20))


def round_bounds(resolution: float) -> tuple[float, ...]:
    """Return the sizes that the duration of a round is counted in: up to twice the resolution."""
    shares = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0, 1.5, 2.0)
    return tuple(resolution * share for share in shares)


class OwnMetrics:
    """Counts of requests to kubelets and of rounds."""

    def __init__(self, resolution: float) -> None:
        self.requests = {True: 0, False: 0}
        self.request_seconds: dict[str, Histogram] = {}
        self.request_times: dict[str, int] = {}
        self.freshness = Histogram(_FRESHNESS_BOUNDS)
        self.rounds = Histogram(round_bounds(resolution))

    def requested(self, node: str, success: bool, seconds: float, now: float) -> None:
        """Count a request to a kubelet."""
        self.requests[success] += 1
        histogram = self.request_seconds.get(node)
        if histogram is None:
            histogram = self.request_seconds[node] = Histogram(_DEFAULT_BOUNDS)
        histogram.observe(seconds)
        self.request_times[node] = int(now)

    def forget(self, node: str) -> None:
        """Forget a node that is gone."""
        self.request_seconds.pop(node, None)
        self.request_times.pop(node, None)

    def write(self, text: Exposition, storage: Storage) -> None:
        """Write everything as text."""
        name = "metrics_server_api_metric_freshness_seconds"
        text.family(name, "histogram", "[ALPHA] Freshness of metrics exported")
        text.histogram(name, (), self.freshness)
        name = "metrics_server_kubelet_last_request_time_seconds"
        text.family(
            name, "gauge", "[ALPHA] Time of last request performed to Kubelet API since unix epoch in seconds"
        )
        for node, moment in self.request_times.items():
            text.sample(name, (("node", node),), moment)
        name = "metrics_server_kubelet_request_duration_seconds"
        text.family(name, "histogram", "[ALPHA] Duration of requests to Kubelet API in seconds")
        for node, histogram in self.request_seconds.items():
            text.histogram(name, (("node", node),), histogram)
        name = "metrics_server_kubelet_request_total"
        text.family(name, "counter", "[ALPHA] Number of requests sent to Kubelet API")
        for success, count in self.requests.items():
            text.sample(name, (("success", str(success).lower()),), count)
        name = "metrics_server_manager_tick_duration_seconds"
        text.family(
            name, "histogram", "[ALPHA] The total time spent collecting and storing metrics in seconds."
        )
        text.histogram(name, (), self.rounds)
        name = "metrics_server_storage_points"
        text.family(name, "gauge", "[ALPHA] Number of metrics points stored.")
        for kind, count in zip(("node", "container"), storage.counts(), strict=True):
            text.sample(name, (("type", kind),), count)
