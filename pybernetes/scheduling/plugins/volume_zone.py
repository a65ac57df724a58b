"""VolumeZone: a volume with zone labels can only be used in its zones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.api.selectors import Requirement
from pybernetes.scheduling.cluster_events import CLAIM, NODE, STORAGE_CLASS, VOLUME, Action, Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.persistent_volumes import class_of
from pybernetes.scheduling.plugin import FilterPlugin, PreFilterPlugin, Rejection
from pybernetes.scheduling.plugins.volume_restrictions import uses
from pybernetes.scheduling.pods import Pod

REASON = "node(s) had no available volume zone"
# The labels that say where a volume or a node is, and what the older ones are called today.
_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
Places = tuple[tuple[str, tuple[str, ...]], ...]


def places(volume: Object) -> Places:
    """Return the zone and region labels of a volume, with the values that a node may have."""
    labels = volume["metadata"].get("labels") or {}
    places = []
    for key in _LABELS:
        values = tuple(part.strip() for part in labels[key].split("__")) if key in labels else ()
        if values and all(values):
            places.append((key, values))
    return tuple(places)


class VolumeZone(PreFilterPlugin, FilterPlugin):
    """Nodes without zone labels can use any volume."""

    name = "VolumeZone"
    points = ("preFilter", "filter")

    def _places(self, pod: Pod) -> Places | Rejection:
        volumes = pod.shape.volumes
        wanted: list[tuple[str, tuple[str, ...]]] = []
        for name, ephemeral in volumes.claims if volumes is not None else ():
            if ephemeral:
                continue
            if not name:
                return Rejection(self.name, "PersistentVolumeClaim had no name")
            claim = self.listers.get("persistentvolumeclaims", f"{pod.namespace}/{name}")
            if claim is None:
                return Rejection(self.name, f'persistentvolumeclaim "{name}" not found')
            if not claim["spec"].get("volumeName"):
                problem = self._unbound(claim)
                if problem:
                    return Rejection(self.name, problem)
                continue
            volume = self.listers.get("persistentvolumes", claim["spec"]["volumeName"])
            if volume is None:
                return Rejection(self.name, f'persistentvolume "{claim["spec"]["volumeName"]}" not found')
            wanted += places(volume)
        return tuple(wanted)

    def _unbound(self, claim: Object) -> str:
        name = class_of(claim)
        if not name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = self.listers.get("storageclasses", name)
        if storage_class is None:
            return f'storageclass.storage.k8s.io "{name}" not found'
        mode = storage_class.get("volumeBindingMode")
        if mode is None:
            return f'VolumeBindingMode not set for StorageClass "{name}"'
        return "" if mode == "WaitForFirstConsumer" else "PersistentVolume had no name"

    def pre_filter(self, pod: Pod) -> Rejection | frozenset[str] | None:
        if pod.shape.volumes is None:
            return None
        places = self._places(pod)
        return places if isinstance(places, Rejection) else None

    def filter_key(self, pod: Pod) -> Hashable | None:
        if pod.shape.volumes is None:
            return None
        places = self._places(pod)
        return places or None if not isinstance(places, Rejection) else None

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        snapshot = self.snapshot
        places = self._places(pod)
        assert not isinstance(places, Rejection)
        ok = np.ones(len(snapshot.valid[rows]), dtype=np.bool_)
        for key, values in places:
            label, today = snapshot.label(key), snapshot.label(_LABELS[key])
            ok &= np.where(
                label.codes[rows] != 0,
                label.matching(Requirement(key, "in", values), rows),
                today.matching(Requirement(_LABELS[key], "in", values), rows),
            )
        says = np.zeros(len(ok), dtype=np.bool_)
        for key in _LABELS:
            says |= snapshot.label(key).codes[rows] != 0
        return np.where(ok | ~says, 0, -1)

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        return (REASON,)

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(STORAGE_CLASS, Action.ADD, _after_class),
            Interest(NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            Interest(CLAIM, Action.ADD | Action.UPDATE, lambda pod, old, new: uses(pod, new)),
            Interest(
                VOLUME,
                Action.ADD | Action.UPDATE,
                lambda pod, old, new: old is None or places(old) != places(new),
            ),
        )


def _after_class(pod: Pod, old: Object | None, new: Object) -> bool:
    return bool(new.get("volumeBindingMode") == "WaitForFirstConsumer")


PLUGIN = VolumeZone
