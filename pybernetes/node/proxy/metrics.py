"""What kube-proxy counts, under upstream's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pybernetes.lib.exposition import Exposition
from pybernetes.node.proxy.backend import Backend
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

# Figures of the modes: the metric, its type and help, and the names of its labels besides ip_family.
_OF_MODES = {
    "iptables_total": (
        "sync_proxy_rules_iptables_total", "gauge", "Total number of iptables rules owned by kube-proxy", ("table",),
    ),
    "iptables_last": (
        "sync_proxy_rules_iptables_last", "gauge",
        "Number of iptables rules written by kube-proxy in last sync", ("table",),
    ),
}  # fmt: skip


class FamilyMetrics:
    """The figures of one family of addresses."""

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
    """The figures of kube-proxy."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.families: dict[int, FamilyMetrics] = {}

    def of(self, family: int) -> FamilyMetrics:
        """The figures of a family."""
        return self.families.setdefault(family, FamilyMetrics())

    def render(self, tracker: ChangeTracker, health: Health, backends: Mapping[int, Backend]) -> bytes:
        """All figures as Prometheus reads them."""
        text = Exposition()
        self._histograms(text)
        self._gauges(text)
        for name, kind, help_, value in (
            ("endpoint_changes_pending", "gauge", "Pending proxy rules Endpoint changes", tracker.pending_endpoints),
            ("endpoint_changes_total", "counter", "Cumulative proxy rules Endpoint changes", tracker.endpoint_changes),
            ("service_changes_pending", "gauge", "Pending proxy rules Service changes", tracker.pending_services),
            ("service_changes_total", "counter", "Cumulative proxy rules Service changes", tracker.service_changes),
        ):  # fmt: skip
            _family(text, f"sync_proxy_rules_{name}", kind, help_, [((), value)])
        figures = {family: backend.figures() for family, backend in backends.items()}
        for key, (name, kind, help_, labels) in _OF_MODES.items():
            samples = [
                ((*zip(labels, values, strict=True), ("ip_family", _FAMILY[family])), value)
                for family, found in figures.items()
                for (each, *values), value in found.items()
                if each == key
            ]
            if samples:
                _family(text, name, kind, help_, samples)
        for page in ("healthz", "livez"):
            codes = [
                ((("code", str(code)),), count)
                for (name, code), count in health.answers.items()
                if name == page
            ]
            _family(text, f"proxy_{page}_total", "counter", f"Cumulative proxy {page} HTTP status", codes)
        text.process()
        return text.render()

    def _histograms(self, text: Exposition) -> None:
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
            for family, each in self.families.items():
                found: Histogram = getattr(each, attribute)
                labels = (("ip_family", _FAMILY[family]),)
                text.histogram(_PREFIX + name, labels, found.bounds, found.counts, found.total)

    def _gauges(self, text: Exposition) -> None:
        rows = [(((("ip_family", _FAMILY[family])),), each) for family, each in self.families.items()]
        _family(text, "sync_proxy_rules_last_timestamp_seconds", "gauge",
                "The last time proxy rules were successfully synced",
                [(labels, each.last) for labels, each in rows])  # fmt: skip
        _family(text, "sync_proxy_rules_last_queued_timestamp_seconds", "gauge",
                "The last time a sync of proxy rules was queued",
                [(labels, each.last_queued) for labels, each in rows])  # fmt: skip
        _family(text, "sync_proxy_rules_no_local_endpoints_total", "gauge",
                "Number of services with a Local traffic policy and no endpoints",
                [((("traffic_policy", policy), *labels), count) for labels, each in rows
                 for policy, count in each.without_local.items()])  # fmt: skip
        _family(text, "conntrack_reconciler_deleted_entries_total", "counter",
                "Cumulative conntrack flows deleted by conntrack reconciler",
                [(labels, each.conntrack_deleted) for labels, each in rows])  # fmt: skip
        if self.mode == "nftables":
            _family(text, "sync_proxy_rules_nftables_sync_failures_total", "counter",
                    "Cumulative proxy nftables sync failures",
                    [(labels, each.failures) for labels, each in rows])  # fmt: skip
        else:
            _family(text, "sync_proxy_rules_iptables_restore_failures_total", "counter",
                    "Cumulative proxy iptables restore failures",
                    [(labels, each.failures) for labels, each in rows])  # fmt: skip
            _family(text, "sync_proxy_rules_iptables_partial_restore_failures_total", "counter",
                    "Cumulative proxy iptables partial restore failures",
                    [(labels, each.partial_failures) for labels, each in rows])  # fmt: skip


def _family(
    text: Exposition,
    name: str,
    kind: str,
    help_: str,
    samples: Iterable[tuple[tuple[tuple[str, str], ...], float]],
) -> None:
    text.family(_PREFIX + name, kind, help_)
    for labels, value in samples:
        text.sample(_PREFIX + name, labels, value)
