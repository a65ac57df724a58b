"""VolumeRestrictions: disks that only one node or one pod can have."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, CLAIM, NODE, Action, Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.plugin import FilterPlugin, PreFilterPlugin, Rejection, Scope
from pybernetes.scheduling.pods import Pod

REASON_DISK = "node(s) had no available disk"
REASON_ONE_POD = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
_DISK, _ONE_POD = 1, 2
Disk = tuple[str, Any, bool]


def conflict(one: Disk, other: Disk) -> bool:
    """Return whether two pods on one node cannot use these two disks at the same time."""
    if one[0] != other[0] or (one[2] and other[2]):
        return False
    if one[0] == "rbd":
        return one[1][:2] == other[1][:2] and bool(one[1][2] & other[1][2])
    return bool(one[1] == other[1])


class VolumeRestrictions(PreFilterPlugin, FilterPlugin):
    """A ReadWriteOncePod claim is checked before the nodes: only one pod may use it, wherever that is."""

    name = "VolumeRestrictions"
    points = ("preFilter", "filter")
    filter_scope = Scope.CLUSTER

    def pre_filter(self, pod: Pod) -> Rejection | frozenset[str] | None:
        volumes = pod.shape.volumes
        for name, ephemeral in volumes.claims if volumes is not None else ():
            if (
                not ephemeral
                and self.listers.get("persistentvolumeclaims", f"{pod.namespace}/{name}") is None
            ):
                return Rejection(self.name, f'persistentvolumeclaim "{name}" not found')
        return None

    def _is_taken(self, pod: Pod) -> bool:
        """Return whether a ReadWriteOncePod claim is in use."""
        volumes = pod.shape.volumes
        for name, ephemeral in volumes.claims if volumes is not None else ():
            key = f"{pod.namespace}/{name}"
            if ephemeral or key not in self.snapshot.claims:
                continue
            claim = self.listers.get("persistentvolumeclaims", key)
            if claim is not None and "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ()):
                return True
        return False

    def filter_key(self, pod: Pod) -> Hashable | None:
        volumes = pod.shape.volumes
        return True if volumes is not None and (volumes.disks or self._is_taken(pod)) else None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        snapshot, volumes = self.snapshot, pod.shape.volumes
        codes = np.full(snapshot.size, _ONE_POD if self._is_taken(pod) else 0, dtype=np.int64)
        assert volumes is not None
        for disk in volumes.disks:
            for row in snapshot.disks.get(disk[0], ()):
                if any(conflict(disk, other) for other in _disks(snapshot.pods[row].values())):
                    codes[row] = _DISK
        return codes[rows]

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON_DISK if code == _DISK else REASON_ONE_POD,)

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(ASSIGNED_POD, Action.DELETE, _after_deletion),
            Interest(NODE, Action.ADD),
            Interest(CLAIM, Action.ADD, lambda pod, old, new: uses(pod, new)),
        )


def _disks(pods: Iterable[Pod]) -> Iterable[Disk]:
    for pod in pods:
        if pod.shape.volumes is not None:
            yield from pod.shape.volumes.disks


def uses(pod: Pod, claim: Object) -> bool:
    """Return whether a pod uses a claim."""
    meta, volumes = claim["metadata"], pod.shape.volumes
    if volumes is None or meta["namespace"] != pod.namespace:
        return False
    return any(name == meta["name"] for name, _ in volumes.claims)


def _after_deletion(pod: Pod, old: Pod, _new: None) -> bool:
    mine, theirs = pod.shape.volumes, old.shape.volumes
    if mine is None or theirs is None or pod.namespace != old.namespace:
        return False
    if any(conflict(one, other) for one in mine.disks for other in theirs.disks):
        return True
    return not {name for name, _ in mine.claims}.isdisjoint(name for name, _ in theirs.claims)


PLUGIN = VolumeRestrictions
