"""Which pods count for a decision, and how much they asked for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pybernetes.api import quantity
from pybernetes.api.core.pod.pod_level_resources import is_restartable, supported_at_pod_level
from pybernetes.api.core.pod.resource_totals import of_spec
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import add_to
from pybernetes.control_plane.controllers._objects.pods import ready_condition
from pybernetes.lib import rfc3339


class PodMetric(NamedTuple):
    """A figure of a pod: thousandths, the moment it is of, and the window that it is the average of."""

    value: int
    timestamp: float = 0.0
    window: float = 60.0


class PodGroups(NamedTuple):
    """Pods by what their metrics are worth: how many are ready, and the names of the others."""

    ready: int
    unready: frozenset[str]
    missing: frozenset[str]
    ignored: frozenset[str]


class CannotCompute(Exception):
    """There is no number of replicas to be had; the text says why."""


def group_pods(
    pods: Iterable[Object],
    metrics: Mapping[str, PodMetric],
    resource: str,
    *,
    now: float,
    cpu_initialization: float,
    initial_readiness: float,
) -> PodGroups:
    """Part the pods. The CPU that a pod uses while it starts says nothing about its load."""
    ready = 0
    unready, missing, ignored = set(), set(), set()
    for pod in pods:
        name, status = pod["metadata"]["name"], pod.get("status", {})
        if pod["metadata"].get("deletionTimestamp") or status.get("phase") == "Failed":
            ignored.add(name)
        elif status.get("phase") == "Pending":
            unready.add(name)
        elif name not in metrics:
            missing.add(name)
        elif resource == "cpu" and _is_starting(
            pod, metrics[name], now, cpu_initialization, initial_readiness
        ):
            unready.add(name)
        else:
            ready += 1
    return PodGroups(ready, frozenset(unready), frozenset(missing), frozenset(ignored))


def _is_starting(
    pod: Object, metric: PodMetric, now: float, cpu_initialization: float, initial_readiness: float
) -> bool:
    condition, started = ready_condition(pod), pod.get("status", {}).get("startTime")
    if condition is None or not started:
        return True
    start = rfc3339.parse(started)
    changed = rfc3339.parse(condition["lastTransitionTime"]) if condition.get("lastTransitionTime") else 0.0
    if start + cpu_initialization > now:
        return condition["status"] == "False" or metric.timestamp < changed + metric.window
    return condition["status"] == "False" and start + initial_readiness > changed


def requests_of(pods: Iterable[Object], resource: str, container: str = "") -> dict[str, int]:
    """Return the thousandths that each pod, or one container of each, asks for; CannotCompute if one asks for none."""
    return {pod["metadata"]["name"]: _request(pod, resource, container) for pod in pods}


def _request(pod: Object, resource: str, container: str) -> int:
    name, spec = pod["metadata"]["name"], pod["spec"]
    own = [key for key in (spec.get("resources") or {}).get("requests") or {} if supported_at_pod_level(key)]
    if own and not container:
        whole = of_spec(spec, "requests", own)
        add_to(whole, spec.get("overhead") or {})
        if resource not in whole:
            raise CannotCompute(f"missing pod-level request for {resource} in Pod {name}")
        return quantity.milli(whole[resource])
    sidecars = [item for item in spec.get("initContainers") or () if is_restartable(item)]
    total = 0
    for item in [*spec["containers"], *sidecars]:
        if container in ("", item["name"]):
            requests = (item.get("resources") or {}).get("requests") or {}
            if resource not in requests:
                raise CannotCompute(
                    f"missing request for {resource} in container {item['name']} of Pod {name}"
                )
            total += quantity.milli(requests[resource])
        if container == item["name"]:
            return total
    if container:
        raise CannotCompute(f"container {container} not found in Pod {name}")
    return total
