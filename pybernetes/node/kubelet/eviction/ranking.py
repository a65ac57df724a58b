"""Which pod is evicted first when a node is short of something, and the message about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.eviction import thresholds
from pybernetes.node.kubelet.eviction.thresholds import Observation, Threshold, binary
from pybernetes.node.kubelet.pod_kinds import is_critical, qos_of
from pybernetes.node.kubelet.volumes.local_storage import is_local


def rank(
    pods: Iterable[Object], pod_stats: Mapping[str, Object], signal: str, *, image_disk: bool = False
) -> list[Object]:
    """Return pods in the order of eviction; ``image_disk`` says that images have a filesystem of their own.

    First those without stats, then those that use more than they requested, then by priority, then by how much they
    use beyond their requests.
    """
    resource = thresholds.SIGNALS[signal][1]

    def key(pod: Object) -> tuple[Any, ...]:
        stats = pod_stats.get(pod["metadata"]["uid"])
        priority = int(pod["spec"].get("priority") or 0)
        if resource == "pids":
            return priority, stats is not None, -_processes(stats)
        if stats is None:
            return False, False, priority, 0
        requested = int(quantity.parse(resource_totals.requests(pod).get(resource, "0")))
        taken = _memory(stats) if resource == "memory" else _disk(pod, stats, signal, resource, image_disk)
        beyond = taken - requested
        return True, beyond <= 0, priority, -beyond

    return sorted(pods, key=key)


def _processes(stats: Object | None) -> int:
    return (stats or {}).get("process_stats", {}).get("process_count", 0)


def _memory(stats: Object) -> int:
    return stats.get("memory", {}).get("workingSetBytes", 0)


def _disk(pod: Object, stats: Object, signal: str, resource: str, image_disk: bool) -> int:
    """Return what a pod uses of the filesystem that a signal is about."""
    unit = "usedBytes" if resource == "ephemeral-storage" else "inodesUsed"
    parts = {"rootfs", "logs", "volumes"}
    if image_disk:
        parts = (
            {"rootfs"} if signal in (thresholds.IMAGE_DISK, thresholds.IMAGE_INODES) else {"logs", "volumes"}
        )
    total = 0
    for container in stats.get("containers", ()):
        total += sum(container.get(part, {}).get(unit, 0) for part in ("rootfs", "logs") if part in parts)
    if "volumes" in parts:
        local = {volume["name"] for volume in pod["spec"].get("volumes", ()) if is_local(volume)}
        total += sum(volume.get(unit, 0) for volume in stats.get("volume", ()) if volume["name"] in local)
    return total


def message(
    pod: Object, stats: Object | None, due: list[Threshold], seen: Mapping[str, Observation], resource: str
) -> tuple[str, dict[str, str]]:
    """Return why a pod was evicted, and the annotations of the event that says so."""
    text = f"The node was low on resource: {resource}. "
    for threshold in due:
        observation = seen.get(threshold.signal)
        if thresholds.SIGNALS[threshold.signal][1] == resource and observation is not None:
            text += f"Threshold quantity: {threshold.amount.shown(observation.capacity)}, available: {observation.shown}. "
            break
    names, sizes = [], []
    known = [*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())]
    for usage in (stats or {}).get("containers", ()):
        container = next((candidate for candidate in known if candidate["name"] == usage["name"]), None)
        if container is None or resource not in ("memory", "ephemeral-storage"):
            continue
        if resource == "memory":
            taken = usage.get("memory", {}).get("workingSetBytes", 0)
        else:
            taken = sum(usage.get(part, {}).get("usedBytes", 0) for part in ("rootfs", "logs"))
        requested = (container.get("resources") or {}).get("requests", {}).get(resource, "0")
        if taken > quantity.parse(requested):
            text += (
                f"Container {container['name']} was using {binary(taken)}, request is {quantity.canonical(requested)},"
                f" has larger consumption of {resource}. "
            )
            names.append(container["name"])
            sizes.append(binary(taken))
    return text, {
        "offending_containers": ",".join(names), "offending_containers_usage": ",".join(sizes),
        "starved_resource": resource,
    }  # fmt: skip


def refusal(pod: Object, conditions: frozenset[str]) -> tuple[str, str] | None:
    """Return why a new pod may not start while the node is under pressure."""
    if not conditions or is_critical(pod):
        return None
    if conditions == {"MemoryPressure"}:
        if qos_of(pod) != "BestEffort" or _tolerates(pod, "node.kubernetes.io/memory-pressure"):
            return None
    return "Evicted", f"The node had condition: [{' '.join(sorted(conditions))}]. "


def _tolerates(pod: Object, key: str) -> bool:
    for toleration in pod["spec"].get("tolerations", ()):
        named = toleration.get("key") in (key, None, "") and (
            toleration.get("key") or toleration.get("operator") == "Exists"
        )
        valued = toleration.get("operator") == "Exists" or not toleration.get("value")
        if named and valued and toleration.get("effect") in ("NoSchedule", None, ""):
            return True
    return False
