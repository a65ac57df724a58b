"""What each metric of an autoscaler asks for, and what its status says: one function for each type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from pybernetes.api import quantity, selectors
from pybernetes.api.resource import Object
from pybernetes.api.text.printed_selector import printed
from pybernetes.control_plane.controllers.horizontalpodautoscaler import replica_calculator as calculator
from pybernetes.control_plane.controllers.horizontalpodautoscaler.metrics_client import MetricsClient
from pybernetes.control_plane.controllers.horizontalpodautoscaler.pod_groups import (
    CannotCompute,
    PodGroups,
    PodMetric,
    group_pods,
    requests_of,
)
from pybernetes.control_plane.controllers.horizontalpodautoscaler.replica_calculator import (
    Proposal,
    Tolerances,
)


class Failed(Exception):
    """A metric gives no number; ``reason`` is that of the event and condition, ``cause`` what they say. The text is longer
    and is that of the event about all metrics."""

    def __init__(self, reason: str, text: str, cause: str) -> None:
        super().__init__(text)
        self.reason, self.cause = reason, cause


class MetricResult(NamedTuple):
    """How many replicas a metric asks for, what it is called, and its status."""

    replicas: int
    name: str
    status: Object


@dataclass(frozen=True)
class Target:
    """What is scaled: where its pods are, how many it has and asks for, and how to judge them."""

    namespace: str
    selector: str
    pods: list[Object]
    spec_replicas: int
    status_replicas: int
    tolerances: Tolerances
    now: float
    cpu_initialization: float
    initial_readiness: float

    def groups(self, metrics: dict[str, PodMetric], resource: str) -> PodGroups:
        """Return the pods by what their metrics are worth."""
        calculator.check_pods(self.pods)
        return group_pods(
            self.pods, metrics, resource, now=self.now, cpu_initialization=self.cpu_initialization,
            initial_readiness=self.initial_readiness,
        )  # fmt: skip


async def compute(client: MetricsClient, target: Target, spec: Object) -> MetricResult:
    """Return what a metric asks for; Failed if that cannot be told."""
    kind = spec.get("type", "")
    if kind not in _SOURCES:
        text = f'unknown metric source type "{kind}"'
        raise Failed("InvalidMetricSourceType", text, text)
    key, reason, source, prefixes = _SOURCES[kind]
    try:
        return await source(client, target, spec[key])
    except CannotCompute as error:
        raise Failed(reason, ": ".join([*prefixes(spec[key]), str(error)]), str(error)) from None


def _quantity(millis: int, resource: str = "") -> str:
    return quantity.format_like(Fraction(millis, 1000), "1Ki" if resource == "memory" else "1")


def _selector(metric: Object) -> str:
    try:
        return str(selectors.from_object(metric.get("selector"))) if metric.get("selector") else ""
    except selectors.SelectorError as error:
        raise CannotCompute(str(error)) from None


def _identifier(metric: Object) -> Object:
    return {key: metric[key] for key in ("name", "selector") if metric.get(key)}


async def _resource(client: MetricsClient, target: Target, spec: Object) -> MetricResult:
    name, container, wanted = spec["name"], spec.get("container", ""), spec["target"]
    what = "usage" if wanted.get("averageValue") is not None else "utilization"
    if what == "utilization" and wanted.get("averageUtilization") is None:
        raise CannotCompute(
            "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
        )
    try:
        try:
            metrics = await client.resource(name, target.namespace, target.selector, container)
        except CannotCompute as error:
            raise CannotCompute(f"unable to get metrics for resource {name}: {error}") from None
        groups = target.groups(metrics, name)
        if what == "usage":
            average = quantity.milli(wanted["averageValue"])
            proposal = calculator.by_average(
                target.spec_replicas, metrics, groups, average, target.tolerances
            )
        else:
            calculator.check_metrics(metrics, groups)
            requests = requests_of(target.pods, name, container)
            proposal = calculator.by_utilization(
                target.spec_replicas,
                metrics,
                requests,
                groups,
                wanted["averageUtilization"],
                target.tolerances,
            )
    except CannotCompute as error:
        raise CannotCompute(f"failed to get {name} {what}: {error}") from None
    current: Object = {"averageValue": _quantity(proposal.usage, name)}
    if proposal.utilization is not None:
        current["averageUtilization"] = proposal.utilization
    own = {"name": name, "container": container} if container else {"name": name}
    key = "containerResource" if container else "resource"
    status = {"type": key[0].upper() + key[1:], key: {**own, "current": current}}
    noun = f"{name} container resource" if container and what == "utilization" else f"{name} resource"
    called = f"{noun} utilization (percentage of request)" if what == "utilization" else noun
    return MetricResult(proposal.replicas, called, status)


async def _pods(client: MetricsClient, target: Target, spec: Object) -> MetricResult:
    metric, average = spec["metric"], quantity.milli(spec["target"]["averageValue"])
    try:
        metrics = await client.pods(metric["name"], target.namespace, target.selector, _selector(metric))
    except CannotCompute as error:
        raise CannotCompute(f"unable to get metric {metric['name']}: {error}") from None
    groups = target.groups(metrics, "")
    proposal = calculator.by_average(target.spec_replicas, metrics, groups, average, target.tolerances)
    current = {"metric": _identifier(metric), "current": {"averageValue": _quantity(proposal.usage)}}
    return MetricResult(proposal.replicas, f"pods metric {metric['name']}", {"type": "Pods", "pods": current})


def _of_one(target: Target, wanted: Object, usage: int, *, average: bool) -> tuple[Proposal, Object]:
    """Return the proposal for one figure, and what the status says of it."""
    if average:
        share = quantity.milli(wanted["averageValue"])
        proposal = calculator.by_share(target.status_replicas, usage, share, target.tolerances)
        return proposal, {"averageValue": _quantity(proposal.usage)}
    value = quantity.milli(wanted["value"])
    proposal = calculator.by_value(target.spec_replicas, usage, value, target.pods, target.tolerances)
    return proposal, {"value": _quantity(proposal.usage)}


def _is_average(wanted: Object) -> bool | None:
    """Return whether an object's metric has a target for each pod, by the type that it names; None without either."""
    key = {"Value": "value", "AverageValue": "averageValue"}.get(wanted.get("type", ""))
    return None if key is None or wanted.get(key) is None else key == "averageValue"


async def _object(client: MetricsClient, target: Target, spec: Object) -> MetricResult:
    metric, described, wanted = spec["metric"], spec["describedObject"], spec["target"]
    average = _is_average(wanted)
    if average is None:
        raise CannotCompute(
            "invalid object metric source: neither a value target nor an average value target was set"
        )
    try:
        usage = await client.object(metric["name"], target.namespace, described, _selector(metric))
    except CannotCompute as error:
        where = f"{described['kind']} {target.namespace}/{described['name']}"
        raise CannotCompute(f"unable to get metric {metric['name']} on {where}: {error}") from None
    proposal, current = _of_one(target, wanted, usage, average=average)
    status = {"describedObject": described, "metric": _identifier(metric), "current": current}
    called = f"{described['kind']} metric {metric['name']}"
    if average:
        called = f"external metric {metric['name']}({_go_selector(metric)})"
    return MetricResult(proposal.replicas, called, {"type": "Object", "object": status})


async def _external(client: MetricsClient, target: Target, spec: Object) -> MetricResult:
    metric, wanted = spec["metric"], spec["target"]
    if wanted.get("value") is None and wanted.get("averageValue") is None:
        raise CannotCompute(
            "invalid external metric source: neither a value target nor an average value target was set"
        )
    average = wanted.get("averageValue") is not None
    try:
        figures = await client.external(metric["name"], target.namespace, _selector(metric))
    except CannotCompute as error:
        where = f"{target.namespace}/{metric['name']}/{_go_selector(metric)}"
        raise CannotCompute(f"unable to get external metric {where}: {error}") from None
    usage = calculator.sum_of(figures, negative_is_too_large=average)
    proposal, current = _of_one(target, wanted, usage, average=average)
    status = {"metric": _identifier(metric), "current": current}
    called = f"external metric {metric['name']}({_go_selector(metric)})"
    return MetricResult(proposal.replicas, called, {"type": "External", "external": status})


def _go_selector(metric: Object) -> str:
    return printed(metric["selector"]) if metric.get("selector") is not None else "nil"


def _object_prefixes(spec: Object) -> list[str]:
    more = [f"failed to get {spec['metric']['name']} object metric"] if _is_average(spec["target"]) else []
    return ["failed to get object metric value", *more]


def _external_prefixes(spec: Object) -> list[str]:
    name, wanted = spec["metric"]["name"], spec["target"]
    more = []
    if wanted.get("averageValue") is not None:
        more = [f"failed to get {name} external metric"]
    elif wanted.get("value") is not None:
        more = [f"failed to get external metric {name}"]
    return [f"failed to get {name} external metric value", *more]


_Source = Callable[[MetricsClient, Target, Object], Awaitable[MetricResult]]
# By type: the field, the reason of a failure, what computes it, and how the text of a failure begins.
_SOURCES: dict[str, tuple[str, str, _Source, Callable[[Object], list[str]]]] = {
    "Resource": ("resource", "FailedGetResourceMetric", _resource,
                 lambda spec: [f"failed to get {spec['name']} resource metric value"]),
    "ContainerResource": ("containerResource", "FailedGetContainerResourceMetric", _resource,
                          lambda spec: [f"failed to get {spec['container']} container metric value"]),
    "Pods": ("pods", "FailedGetPodsMetric", _pods, lambda spec: ["failed to get pods metric value"]),
    "Object": ("object", "FailedGetObjectMetric", _object, _object_prefixes),
    "External": ("external", "FailedGetExternalMetric", _external, _external_prefixes),
}  # fmt: skip
