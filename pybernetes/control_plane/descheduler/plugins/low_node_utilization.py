"""LowNodeUtilization: pods leave nodes that are too full while there are others with room."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    INT,
    NAMESPACES,
    STRING,
    THRESHOLDS,
    UINT,
    Struct,
    arguments,
)
from pybernetes.control_plane.descheduler.node_usage import Amounts, Source, Usage
from pybernetes.control_plane.descheduler.plugin import BALANCE, Decisions, PluginError, StrategyPlugin
from pybernetes.control_plane.descheduler.plugins._node_utilization import (
    BASIC,
    METRIC,
    Move,
    NodeState,
    Utilization,
    check_namespaces,
    check_thresholds,
)
from pybernetes.control_plane.descheduler.view import View

KUBERNETES, PROMETHEUS = "KubernetesMetrics", "Prometheus"
_DIFFERENT = "thresholds and targetThresholds configured different resources"


class LowNodeUtilization(StrategyPlugin):
    """Nodes below all ``thresholds`` get pods of nodes above some of ``targetThresholds``."""

    name = "LowNodeUtilization"
    points = (BALANCE,)
    arguments_type = arguments(
        "LowNodeUtilization", useDeviationThresholds=BOOL, thresholds=THRESHOLDS, targetThresholds=THRESHOLDS,
        numberOfNodes=INT, evictableNamespaces=NAMESPACES, evictionLimits=Struct("api.EvictionLimits", {"node": UINT}),
        metricsUtilization=Struct("nodeutilization.MetricsUtilization", {
            "metricsServer": BOOL, "source": STRING,
            "prometheus": Struct("nodeutilization.Prometheus", {"query": STRING}),
        }),
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        problem = check_namespaces(arguments) or _check_thresholds(arguments) or _check_metrics(arguments)
        return [problem] if problem else []

    @property
    def source(self) -> Source | None:
        """Whom to ask for what nodes really use; None if requests stand for it."""
        metrics = self.arguments.get("metricsUtilization")
        if metrics is None:
            return None
        if metrics.get("metricsServer") or metrics.get("source") == KUBERNETES:
            return Source(KUBERNETES)
        if metrics.get("source") == PROMETHEUS:
            return Source(PROMETHEUS, metrics["prometheus"]["query"])
        return Source(metrics.get("source", ""))

    def decide(self, view: View) -> Decisions:
        given, thresholds, targets = (
            self.arguments,
            self.arguments["thresholds"],
            self.arguments["targetThresholds"],
        )
        basic = () if set(thresholds) == {METRIC} else BASIC
        utilization = Utilization(view, dict.fromkeys((*thresholds, *basic)), self._usage(view))
        if given.get("useDeviationThresholds"):
            average = {name: utilization.average(name) for name in thresholds}
            thresholds = {name: _percentage(average[name] - span) for name, span in thresholds.items()}
            targets = {name: _percentage(average[name] + span) for name, span in targets.items()}
        low = utilization.below(thresholds) & ~view.snapshot.unschedulable[view.snapshot.all]
        high = utilization.above(targets) & ~low
        count = int(low.sum())
        if not count or count <= given.get("numberOfNodes", 0) or count == view.nodes.sum() or not high.any():
            return
        sources = utilization.states(high, targets)
        sources.sort(key=lambda node: (-node.load, view.snapshot.names[node.row]))
        yield from Move(
            utilization, sources, utilization.states(low, targets), _goes_on,
            view.evictable & view.table.running,
            frozenset((given.get("evictableNamespaces") or {}).get("exclude") or ()),
            (given.get("evictionLimits") or {}).get("node"),
        ).decide()  # fmt: skip

    def _usage(self, view: View) -> Usage | None:
        source = self.source
        if source is None:
            return None
        usage = view.usages.get(source, "metrics client not initialized")
        if isinstance(usage, str):
            raise PluginError(usage)
        return usage


def _goes_on(node: NodeState, room: Amounts) -> bool:
    too_full = any(node.allowed[name] < used for name, used in node.used.items())
    return too_full and all(left > 0 for left in room.values())


def _percentage(value: float) -> float:
    return min(100.0, max(0.0, value))


def _check_thresholds(arguments: Object) -> str:
    thresholds, targets = arguments.get("thresholds") or {}, arguments.get("targetThresholds") or {}
    for name, given in (("thresholds", thresholds), ("targetThresholds", targets)):
        problem = check_thresholds(given)
        if problem:
            return f"{name} config is not valid: {problem}"
    if thresholds.keys() != targets.keys():
        return _DIFFERENT
    for name, value in thresholds.items():
        if value > targets[name] and not arguments.get("useDeviationThresholds"):
            return f"thresholds' {name} percentage is greater than targetThresholds'"
    return ""


def _check_metrics(arguments: Object) -> str:
    metrics = arguments.get("metricsUtilization")
    if metrics is None:
        return ""
    source, prometheus = metrics.get("source"), metrics.get("prometheus")
    if source == KUBERNETES and metrics.get("metricsServer"):
        return f'it is not allowed to set both "{KUBERNETES}" source and metricsServer'
    if source == KUBERNETES and prometheus is not None:
        return f'prometheus configuration is not allowed to set when source is set to "{KUBERNETES}"'
    if source != PROMETHEUS:
        return ""
    if not (prometheus or {}).get("query"):
        return f'prometheus query is required when metrics source is set to "{PROMETHEUS}"'
    for name in ("thresholds", "targetThresholds"):
        if set(arguments[name]) != {METRIC}:
            shown = " ".join(arguments[name])
            return f'{name} are expected to specify a single instance of "{METRIC}" resource, got [{shown}] instead'
    return ""


PLUGIN = LowNodeUtilization
