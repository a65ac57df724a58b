"""Pods that use more disk than their limits: emptyDir volumes with a size limit, containers and pods with ephemeral storage."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object

EMPTY_DIR, POD, CONTAINER = "emptydirfs.limit", "ephemeralpodfs.limit", "ephemeralcontainerfs.limit"


def has_disk_limits(pod: Object) -> bool:
    """Return whether a pod has such a limit, so that its disk usage has to be measured."""
    return bool(_volumes(pod)) or bool(_containers(pod)) or "ephemeral-storage" in resource_totals.limits(pod)


def _volumes(pod: Object) -> dict[str, str]:
    limits = {}
    for volume in pod["spec"].get("volumes", ()):
        source = volume.get("emptyDir") or {}
        limit = source.get("sizeLimit")
        # The kernel enforces the size of volumes in memory.
        if limit and source.get("medium", "") != "Memory" and quantity.parse(limit) > 0:
            limits[volume["name"]] = limit
    return limits


def _containers(pod: Object) -> dict[str, str]:
    chosen = [*pod["spec"].get("containers", ())]
    chosen += [container for container in pod["spec"].get("initContainers", ()) if is_restartable(container)]
    limits = {}
    for container in chosen:
        limit = (container.get("resources") or {}).get("limits", {}).get("ephemeral-storage")
        if limit and quantity.parse(limit):
            limits[container["name"]] = limit
    return limits


def exceeded_limit(pod: Object, stats: Object, *, image_disk: bool = False) -> tuple[str, str] | None:
    """Return the signal and the message of the first limit that a pod exceeds."""
    used = {volume["name"]: volume["usedBytes"] for volume in stats.get("volume", ())}
    for name, limit in _volumes(pod).items():
        if used.get(name, 0) > quantity.parse(limit):
            return (
                EMPTY_DIR,
                f'Usage of EmptyDir volume "{name}" exceeds the limit "{quantity.canonical(limit)}". ',
            )
    whole = resource_totals.limits(pod).get("ephemeral-storage")
    if whole is not None and stats.get("ephemeral-storage", {}).get("usedBytes", 0) > quantity.parse(whole):
        text = quantity.canonical(whole)
        return POD, f"Pod ephemeral local storage usage exceeds the total limit of containers {text}. "
    own = _containers(pod)
    for container in stats.get("containers", ()):
        parts = ("logs",) if image_disk else ("logs", "rootfs")
        taken = sum(container.get(part, {}).get("usedBytes", 0) for part in parts)
        allowed = own.get(container["name"])
        if allowed is not None and taken > quantity.parse(allowed):
            text = quantity.canonical(allowed)
            return (
                CONTAINER,
                f'Container {container["name"]} exceeded its local ephemeral storage limit "{text}". ',
            )
    return None
