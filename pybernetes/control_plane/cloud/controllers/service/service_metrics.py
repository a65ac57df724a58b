"""What the service loop counts, under upstream's names."""

from __future__ import annotations

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.metrics import Histogram

_BOUNDS = tuple(2.0**power for power in range(15))
_PREFIX = "service_controller_"


class ServiceMetrics:
    """Counts of one process."""

    def __init__(self) -> None:
        self.syncs = self.errors = 0
        self._seconds = Histogram(_BOUNDS)

    def observe(self, seconds: float) -> None:
        """Count how long it took to tell the cloud of other nodes."""
        self._seconds.observe(seconds)

    def write(self, text: Exposition) -> None:
        """Write the counts."""
        for name, help_, value in (
            ("loadbalancer_sync_total", "A metric counting the amount of times any load balancer has been configured, as an effect of service/node changes on the cluster", self.syncs),
            ("nodesync_error_total", "A metric counting the amount of times any load balancer has been configured and errored, as an effect of node changes on the cluster", self.errors),
        ):  # fmt: skip
            text.family(_PREFIX + name, "counter", help_)
            text.sample(_PREFIX + name, (), value)
        for name, help_ in (
            ("nodesync_latency_seconds", "A metric measuring the latency for nodesync which updates loadbalancer hosts on cluster node updates."),
            ("update_loadbalancer_host_latency_seconds", "A metric measuring the latency for updating each load balancer hosts."),
        ):  # fmt: skip
            text.family(_PREFIX + name, "histogram", help_)
            text.histogram(_PREFIX + name, (), self._seconds)
