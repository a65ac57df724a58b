"""Which pod goes first when a node is short of something, and what it is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.node.kubelet.eviction import thresholds
from pybernetes.node.kubelet.eviction.thresholds import Observation, Threshold, binary
from pybernetes.node.kubelet.pod_sources.static_pod import is_mirror
from pybernetes.node.kubelet.status import is_static

Fields = dict[str, Any]
_CRITICAL = 2_000_000_000


def is_critical(pod: Fields) -> bool:
    """Whether the node needs the pod more than anything else."""
    return is_static(pod) or is_mirror(pod) or int(pod["spec"].get("priority") or 0) >= _CRITICAL


def rank(
    pods: Iterable[Fields], figures: Mapping[str, Fields], signal: str, *, image_disk: bool = False
) -> list[Fields]:
    """Pods in the order in which they go; ``image_disk`` says that images have a filesystem of their own.

    First those without figures, then those that use more than they asked for, then by priority, then by how much
    they use beyond what they asked for.
    """
    resource = thresholds.SIGNALS[signal][1]

    def key(pod: Fields) -> tuple[Any, ...]:
        found = figures.get(pod["metadata"]["uid"])
        priority = int(pod["spec"].get("priority") or 0)
        if resource == "pids":
            return priority, found is not None, -_processes(found)
        if found is None:
            return False, False, priority, 0
        asked = int(quantity.parse(resource_totals.requests(pod).get(resource, "0")))
        taken = _memory(found) if resource == "memory" else _disk(pod, found, signal, resource, image_disk)
        beyond = taken - asked
        return True, beyond <= 0, priority, -beyond

    return sorted(pods, key=key)


def _processes(found: Fields | None) -> int:
    return (found or {}).get("process_stats", {}).get("process_count", 0)


def _memory(found: Fields) -> int:
    return found.get("memory", {}).get("workingSetBytes", 0)


def _disk(pod: Fields, found: Fields, signal: str, resource: str, image_disk: bool) -> int:
    """What a pod takes of the filesystem that a signal is about."""
    unit = "usedBytes" if resource == "ephemeral-storage" else "inodesUsed"
    parts = {"rootfs", "logs", "volumes"}
    if image_disk:
        parts = (
            {"rootfs"} if signal in (thresholds.IMAGE_DISK, thresholds.IMAGE_INODES) else {"logs", "volumes"}
        )
    total = 0
    for container in found.get("containers", ()):
        total += sum(container.get(part, {}).get(unit, 0) for part in ("rootfs", "logs") if part in parts)
    if "volumes" in parts:
        local = {each["name"] for each in pod["spec"].get("volumes", ()) if _is_local(each)}
        total += sum(each.get(unit, 0) for each in found.get("volume", ()) if each["name"] in local)
    return total


def _is_local(volume: Fields) -> bool:
    if "emptyDir" in volume:
        return (volume["emptyDir"] or {}).get("medium", "") != "Memory"
    return any(name in volume for name in ("hostPath", "configMap", "gitRepo"))


def message(
    pod: Fields, found: Fields | None, due: list[Threshold], seen: Mapping[str, Observation], resource: str
) -> tuple[str, dict[str, str]]:
    """Why a pod was ended, and the annotations of the event that says so."""
    text = f"The node was low on resource: {resource}. "
    for each in due:
        observation = seen.get(each.signal)
        if thresholds.SIGNALS[each.signal][1] == resource and observation is not None:
            text += f"Threshold quantity: {each.amount.shown(observation.capacity)}, available: {observation.shown}. "
            break
    names, sizes = [], []
    known = [*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())]
    for figures in (found or {}).get("containers", ()):
        container = next((each for each in known if each["name"] == figures["name"]), None)
        if container is None or resource not in ("memory", "ephemeral-storage"):
            continue
        if resource == "memory":
            taken = figures.get("memory", {}).get("workingSetBytes", 0)
        else:
            taken = sum(figures.get(part, {}).get("usedBytes", 0) for part in ("rootfs", "logs"))
        asked = (container.get("resources") or {}).get("requests", {}).get(resource, "0")
        if taken > quantity.parse(asked):
            text += (
                f"Container {container['name']} was using {binary(taken)}, request is {quantity.canonical(asked)},"
                f" has larger consumption of {resource}. "
            )
            names.append(container["name"])
            sizes.append(binary(taken))
    return text, {
        "offending_containers": ",".join(names), "offending_containers_usage": ",".join(sizes),
        "starved_resource": resource,
    }  # fmt: skip


def refusal(pod: Fields, conditions: frozenset[str]) -> tuple[str, str] | None:
    """Why a new pod may not start while the node is under pressure."""
    if not conditions or is_critical(pod):
        return None
    if conditions == {"MemoryPressure"}:
        quality = pod.get("status", {}).get("qosClass") or _quality(pod)
        if quality != "BestEffort" or _tolerates(pod, "node.kubernetes.io/memory-pressure"):
            return None
    return "Evicted", f"The node had condition: [{' '.join(sorted(conditions))}]. "


def _quality(pod: Fields) -> str:
    from pybernetes.api.core.pod.qos_class import qos_class

    return qos_class(pod["spec"])


def _tolerates(pod: Fields, key: str) -> bool:
    for each in pod["spec"].get("tolerations", ()):
        named = each.get("key") in (key, None, "") and (each.get("key") or each.get("operator") == "Exists")
        valued = each.get("operator") == "Exists" or not each.get("value")
        if named and valued and each.get("effect") in ("NoSchedule", None, ""):
            return True
    return False
