"""What the autoscaler counts, under upstream's names."""

from __future__ import annotations

from collections import Counter

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.metrics import Histogram

_PREFIX = "cluster_autoscaler_"
_SECONDS = (
    0.01,
    0.05,
    0.1,
    0.5,
    1.0,
    2.5,
    5.0,
    7.5,
    10.0,
    12.5,
    15.0,
    17.5,
    20.0,
    22.5,
    25.0,
    27.5,
    30.0,
    50.0,
    75.0,
    100.0,
    1000.0,
)
# Counters: name, help, label.
_COUNTERS = (
    ("errors_total", "The number of CA loops failed due to an error.", "type"),
    ("scaled_up_nodes_total", "Number of nodes added by CA.", ""),
    ("failed_scale_ups_total", "Number of times scale-up operation has failed.", "reason"),
    ("scaled_down_nodes_total", "Number of nodes removed by CA.", "reason"),
    ("evicted_pods_total", "Number of pods evicted by CA", "eviction_result"),
    ("old_unregistered_nodes_removed_count", "Number of unregistered nodes removed by CA.", ""),
    ("skipped_scale_events_count", "Count of scaling events that the CA has chosen to skip.", "reason"),
)
_MOST_COUNTERS = 500
# Gauges: name, help, label.
_GAUGES = (
    (
        "cluster_safe_to_autoscale",
        "Whether or not cluster is healthy enough for autoscaling. 1 if it is, 0 otherwise.",
        "",
    ),
    ("nodes_count", "Number of nodes in cluster.", "state"),
    ("node_groups_count", "Number of node groups managed by CA.", "node_group_type"),
    ("unschedulable_pods_count", "Number of unschedulable pods in the cluster.", "type"),
    ("node_taints_count", "Number of taints per type used in the cluster.", "type"),
    ("max_nodes_count", "Maximum number of nodes in all node groups", ""),
    ("cluster_cpu_current_cores", "Current number of cores in the cluster, minus deleting nodes.", ""),
    ("cpu_limits_cores", "Minimum and maximum number of cores in the cluster.", "direction"),
    (
        "cluster_memory_current_bytes",
        "Current number of bytes of memory in the cluster, minus deleting nodes.",
        "",
    ),
    ("memory_limits_bytes", "Minimum and maximum number of bytes of memory in cluster.", "direction"),
    ("last_activity", "Last time certain part of CA logic executed.", "activity"),
    (
        "pending_node_deletions",
        "Number of nodes that haven't been removed or aborted after finished scale-down phase.",
        "",
    ),
    ("unneeded_nodes_count", "Number of nodes currently considered unneeded by CA.", ""),
    ("unremovable_nodes_count", "Number of nodes currently considered unremovable by CA.", "reason"),
    ("scale_down_in_cooldown", "Whether or not the scale down is in cooldown. 1 if its, 0 otherwise.", ""),
)
_PER_GROUP = (
    ("node_group_min_count", "Minimum number of nodes in the node group"),
    ("node_group_max_count", "Maximum number of nodes in the node group"),
    ("node_group_target_count", "Target number of nodes in the node group by CA."),
    ("node_group_healthiness", "Whether or not node group is healthy enough for autoscaling. 1 if it is, 0 otherwise."),
    ("node_group_backoff_status", "Whether or not node group is backoff for not autoscaling. 1 if it is, 0 otherwise."),
)  # fmt: skip


class AutoscalerMetrics:
    """Counts of one autoscaler. Gauges are replaced as a whole after each pass."""

    def __init__(self, per_group: bool = False) -> None:
        self._per_group = per_group
        self.counters: Counter[tuple[str, str]] = Counter()  # by name and label
        self.gauges: dict[tuple[str, str], float] = {}
        self.groups: dict[tuple[str, str], float] = {}  # by name and group
        self.functions: dict[str, Histogram] = {}

    def count(self, name: str, label: str = "", amount: int = 1) -> None:
        """Count something; labels that clouds have thought out are kept up to a number."""
        if (name, label) not in self.counters and len(self.counters) >= _MOST_COUNTERS:
            label = "other"
        self.counters[name, label] += amount

    def took(self, function: str, seconds: float) -> None:
        """Count the time that a part of a pass took."""
        self.functions.setdefault(function, Histogram(_SECONDS)).observe(seconds)

    def write(self, text: Exposition) -> None:
        """Write all metrics in Prometheus' text format."""
        for names, values, kind in ((_COUNTERS, self.counters, "counter"), (_GAUGES, self.gauges, "gauge")):
            for name, about, label in names:
                text.family(_PREFIX + name, kind, about)
                if kind == "counter" and not label and (name, "") not in self.counters:
                    text.sample(_PREFIX + name, (), 0)
                for (family, value), number in sorted(values.items()):
                    if family == name:
                        text.sample(_PREFIX + name, ((label, value),) if label else (), number)
        for name, about in _PER_GROUP if self._per_group else ():
            text.family(_PREFIX + name, "gauge", about)
            for (family, group), number in sorted(self.groups.items()):
                if family == name:
                    text.sample(_PREFIX + name, (("node_group", group),), number)
        name = f"{_PREFIX}function_duration_seconds"
        text.family(name, "histogram", "Time taken by various parts of CA main loop.")
        for function, histogram in sorted(self.functions.items()):
            text.histogram(name, (("function", function),), histogram)
