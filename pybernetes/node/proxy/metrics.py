"""What kube-proxy counts, under upstream's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pybernetes.api import feature_gates, version
from pybernetes.client.request_metrics import REQUESTS
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.node.proxy.backend import Backend, Mode
from pybernetes.runtime.metrics import Histogram

if TYPE_CHECKING:
    from pybernetes.node.proxy.change_tracker import ChangeTracker
    from pybernetes.node.proxy.health import Health

_SYNC_BOUNDS = tuple(0.001 * 2**power for power in range(15))
_PROGRAMMING_BOUNDS = (
    0.25, 0.5, *map(float, range(1, 60)), *map(float, range(60, 120, 5)), *map(float, range(120, 301, 30)),
)  # fmt: skip
_FAMILY = {4: "IPv4", 6: "IPv6"}
_PREFIX = "kubeproxy_"
_Labels = tuple[tuple[str, str], ...]


class FamilyMetrics:
    """The metrics of one address family."""

    def __init__(self) -> None:
        self.seconds = Histogram(_SYNC_BOUNDS)
        self.full_seconds = Histogram(_SYNC_BOUNDS)
        self.partial_seconds = Histogram(_SYNC_BOUNDS)
        self.programming = Histogram(_PROGRAMMING_BOUNDS)
        self.conntrack_seconds = Histogram(_SYNC_BOUNDS)
        self.conntrack_deleted = 0
        self.last = self.last_queued = 0.0
        self.failures = self.partial_failures = 0
        self.without_local = {"internal": 0, "external": 0}


class ProxyMetrics:
    """The metrics of kube-proxy."""

    def __init__(self, mode: Mode, gates: Mapping[str, bool]) -> None:
        self._mode, self.gates = mode, gates
        self.families: dict[int, FamilyMetrics] = {}

    def of(self, family: int) -> FamilyMetrics:
        """Return the metrics of an address family."""
        return self.families.setdefault(family, FamilyMetrics())

    def write(
        self, text: Exposition, tracker: ChangeTracker, health: Health, backends: Mapping[int, Backend]
    ) -> None:
        """Write all metrics."""
        self._write_histograms(text)
        self._write_gauges(text)
        for name, kind, help_, value in (
            ("endpoint_changes_pending", "gauge", "Pending proxy rules Endpoint changes", tracker.pending_endpoints),
            ("endpoint_changes_total", "counter", "Cumulative proxy rules Endpoint changes", tracker.endpoint_changes),
            ("service_changes_pending", "gauge", "Pending proxy rules Service changes", tracker.pending_services),
            ("service_changes_total", "counter", "Cumulative proxy rules Service changes", tracker.service_changes),
        ):  # fmt: skip
            _write(text, f"sync_proxy_rules_{name}", kind, help_, [((), value)])
        self._write_samples(text, backends)
        version.render(text)
        feature_gates.render(self.gates, text)
        for page in ("healthz", "livez"):
            codes = [
                ((("code", str(code)),), count)
                for (name, code), count in health.answers.items()
                if name == page
            ]
            _write(text, f"proxy_{page}_total", "counter", f"Cumulative proxy {page} HTTP status", codes)
        REQUESTS.write(text)
        text.process()

    def _write_samples(self, text: Exposition, backends: Mapping[int, Backend]) -> None:
        """Add the metrics that only this mode has."""
        samples_by_family = {family: backend.samples() for family, backend in backends.items()}
        for metric in self._mode.metrics:
            samples = [
                ((*zip(metric.labels, values, strict=True), ("ip_family", _FAMILY[family])), value)
                for family, samples_of_family in samples_by_family.items()
                for (name, *values), value in samples_of_family.items()
                if name == metric.name
            ]
            if samples:
                _write(text, metric.name, metric.type, metric.help, samples)

    def _write_histograms(self, text: Exposition) -> None:
        for name, help_, attribute in (
            ("sync_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds", "seconds"),
            ("sync_full_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds for full resyncs",
             "full_seconds"),
            ("sync_partial_proxy_rules_duration_seconds", "SyncProxyRules latency in seconds for partial resyncs",
             "partial_seconds"),
            ("network_programming_duration_seconds", "In Cluster Network Programming Latency in seconds",
             "programming"),
            ("conntrack_reconciler_sync_duration_seconds", "ReconcileConntrackFlowsLatency latency in seconds",
             "conntrack_seconds"),
        ):  # fmt: skip
            text.family(_PREFIX + name, "histogram", help_)
            for family, metrics in self.families.items():
                histogram: Histogram = getattr(metrics, attribute)
                labels = (("ip_family", _FAMILY[family]),)
                text.histogram(_PREFIX + name, labels, histogram)

    def _write_gauges(self, text: Exposition) -> None:
        rows = [((("ip_family", _FAMILY[family]),), metrics) for family, metrics in self.families.items()]
        _write(text, "sync_proxy_rules_last_timestamp_seconds", "gauge",
               "The last time proxy rules were successfully synced",
               [(labels, metrics.last) for labels, metrics in rows])  # fmt: skip
        _write(text, "sync_proxy_rules_last_queued_timestamp_seconds", "gauge",
               "The last time a sync of proxy rules was queued",
               [(labels, metrics.last_queued) for labels, metrics in rows])  # fmt: skip
        _write(text, "sync_proxy_rules_no_local_endpoints_total", "gauge",
               "Number of services with a Local traffic policy and no endpoints",
               [((("traffic_policy", policy), *labels), count) for labels, metrics in rows
                for policy, count in metrics.without_local.items()])  # fmt: skip
        _write(text, "conntrack_reconciler_deleted_entries_total", "counter",
               "Cumulative conntrack flows deleted by conntrack reconciler",
               [(labels, metrics.conntrack_deleted) for labels, metrics in rows])  # fmt: skip
        for attribute, metric in self._mode.failures.items():
            _write(text, metric.name, metric.type, metric.help,
                   [(labels, getattr(metrics, attribute)) for labels, metrics in rows])  # fmt: skip


def _write(
    text: Exposition, name: str, kind: str, help_: str, samples: Iterable[tuple[_Labels, float]]
) -> None:
    text.family(_PREFIX + name, kind, help_)
    for labels, value in samples:
        text.sample(_PREFIX + name, labels, value)
