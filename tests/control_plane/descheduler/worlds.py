"""Clusters in short, and what a descheduler would do to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.cluster import Cluster
from pybernetes.control_plane.descheduler.descheduling import Eviction, descheduling, simulate
from pybernetes.control_plane.descheduler.evictor import Limits
from pybernetes.control_plane.descheduler.node_usage import Usage
from pybernetes.control_plane.descheduler.plugin import BALANCE, DESCHEDULE, Outcome
from pybernetes.control_plane.descheduler.policy import Policy, parse
from pybernetes.control_plane.descheduler.profile import Profile
from pybernetes.control_plane.descheduler.registry import known_plugins
from pybernetes.lib import rfc3339

NOW = 1_800_000_000.0
REPLICA_SET = {
    "kind": "ReplicaSet",
    "name": "rs",
    "uid": "rs-uid",
    "apiVersion": "apps/v1",
    "controller": True,
}


def node(name: str, labels: dict[str, str] | None = None, ready: bool = True, **more: Any) -> Object:
    """Return a node: 2 CPUs, 3000 bytes of memory, 10 pods, unless said otherwise."""
    amounts = {"cpu": "2", "memory": "3000", "pods": "10"} | more.pop("amounts", {})
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name} | (labels or {})},
        "spec": more,
        "status": {
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        },
    }


def pod(
    name: str, on: str = "n1", cpu: str = "100m", memory: str = "", *, namespace: str = "default", age: float = 86_400.0,
    labels: dict[str, str] | None = None, owners: Iterable[Object] = (REPLICA_SET,),
    annotations: dict[str, str] | None = None, status: Object | None = None, deleting: bool = False, image: str = "i",
    **spec: Any,
) -> Object:  # fmt: skip
    """Return a pod on a node that has an owner and a container."""
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    meta: Object = {
        "name": name, "namespace": namespace, "uid": f"{namespace}-{name}", "labels": labels or {},
        "annotations": annotations or {}, "ownerReferences": list(owners),
        "creationTimestamp": rfc3339.seconds(NOW - age),
    }  # fmt: skip
    if deleting:
        meta["deletionTimestamp"] = rfc3339.seconds(NOW)
    container = {"name": "main", "image": image, "resources": {"requests": requests}}
    return {
        "metadata": meta,
        "spec": {"nodeName": on, "containers": [container], **spec},
        "status": {"phase": "Running", "startTime": rfc3339.seconds(NOW - age), **(status or {})},
    }


def cluster(
    nodes: Iterable[Object], pods: Iterable[Object], objects: dict[str, list[Object]] | None = None
) -> Cluster:
    """Return a cluster of API objects."""
    result = Cluster(conditions=True)
    for node in nodes:
        result.set_node(node["metadata"]["name"], result.read_node(node))
    for pod in pods:
        meta = pod["metadata"]
        result.set_pod(f"{meta['namespace']}/{meta['name']}", result.read_pod(pod))
    for kind, items in (objects or {}).items():
        for item in items:
            meta = item["metadata"]
            key = f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else meta["name"]
            result.set_object(kind, key, item)
    return result


def policy(plugins: dict[str, Object], evictor: Object | None = None, **more: Any) -> Policy:
    """Return a policy of one profile with some plugins and their arguments."""
    known = known_plugins()
    configs = [{"name": name, "args": arguments} for name, arguments in plugins.items()]
    configs.append({"name": "DefaultEvictor", "args": evictor or {}})
    points = {
        point: {"enabled": [name for name in plugins if point in known[name].points]}
        for point in (DESCHEDULE, BALANCE)
    }
    profile = {"name": "p", "pluginConfig": configs, "plugins": points}
    return parse(
        {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **more}
    )


def evictions(
    state: Cluster, rules: Policy, usages: dict[object, Usage | str] | None = None,
    refuse: Callable[[Eviction], bool] = lambda _: False,
) -> list[Eviction]:  # fmt: skip
    """Return what goes, within the policy's limits."""
    limits = Limits(rules)

    def evict(eviction: Eviction) -> Outcome:
        exceeded = limits.exceeded(eviction.record.pod)
        if exceeded is not None:
            return exceeded[0]
        if refuse(eviction):
            return Outcome.FAILED
        limits.count(eviction.record.pod)
        return Outcome.EVICTED

    profiles = [Profile(profile) for profile in rules.profiles]
    return simulate(descheduling(state, profiles, NOW, rules.node_selector, usages), evict)


def gone(
    nodes: Iterable[Object], pods: Iterable[Object], plugins: dict[str, Object], evictor: Object | None = None,
    objects: dict[str, list[Object]] | None = None, **more: Any,
) -> list[str]:  # fmt: skip
    """Return the names of the pods that plugins evict, sorted."""
    evicted = evictions(cluster(nodes, pods, objects), policy(plugins, evictor, **more))
    return sorted(eviction.record.pod.name for eviction in evicted)


def pods(count: int, on: str = "n1", prefix: str = "", **more: Any) -> list[Object]:
    """Return several pods on a node."""
    return [pod(f"{prefix or on}-{number}", on, **more) for number in range(count)]
