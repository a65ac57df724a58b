"""What is kept of a pod: what the scheduler's rules need, and what decides whether it may be moved."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.scheduling.pods import Pod, PodReader

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
SCALE_UP_DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
DAEMON_SET_POD = "cluster-autoscaler.kubernetes.io/daemonset-pod"
# The ProvisioningRequest whose capacity a pod uses, by its newer and its older name.
CONSUMES = (
    "autoscaling.x-k8s.io/consume-provisioning-request",
    "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
)
_EVICT_DAEMON = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"
_OVERDUE_SECONDS = 30
_MIRROR = "kubernetes.io/config.mirror"


class PodRecord(NamedTuple):
    """A pod. ``safe`` is what its annotation says about eviction: true, false, on-completion or nothing."""

    pod: Pod
    created: str
    owner_kind: str  # of its controller, with the group: apps/ReplicaSet; empty if it has none
    owner_name: str
    safe: str
    mirror: bool
    local_volumes: tuple[str, ...]  # names of volumes whose data goes with the node
    deleted: str  # when its deletion was asked for
    grace: int  # seconds that it has for its end
    ends: bool  # it has ended, or will and is not started again
    ready: bool
    delay: str = ""
    evicts_daemon: str = ""
    consumes: str = ""

    @property
    def daemon(self) -> bool:
        """Whether a daemon set made it, of whatever group."""
        return self.owner_kind.rpartition("/")[2] == "DaemonSet"

    def overdue(self, now: float) -> bool:
        """Return whether its end is overdue: it will not go by itself any more."""
        return bool(self.deleted) and now - rfc3339.parse(self.deleted) > self.grace + _OVERDUE_SECONDS

    @property
    def unschedulable(self) -> bool:
        """Whether the scheduler found no room for it."""
        return not self.pod.node and not self.deleted and self.pod.condition[:2] == ("False", "Unschedulable")

    @property
    def untried(self) -> bool:
        """Whether the scheduler has not said anything about it."""
        return not self.pod.node and not self.deleted and self.pod.condition[:2] in (("", ""), ("False", ""))


class RecordReader:
    """Makes records of API objects."""

    def __init__(self, pods: PodReader) -> None:
        self._pods = pods

    def read(self, obj: Object) -> PodRecord:
        """Read a pod."""
        meta, spec, status = obj["metadata"], obj["spec"], obj.get("status") or {}
        annotations = meta.get("annotations") or {}
        owner: Object = next(
            (reference for reference in meta.get("ownerReferences") or () if reference.get("controller")), {}
        )
        group = (owner.get("apiVersion") or "").rpartition("/")[0]
        conditions = status.get("conditions") or ()
        kind = f"{group}/{owner['kind']}" if group else owner.get("kind", "")
        name = owner.get("name", "")
        if annotations.get(DAEMON_SET_POD) == "true" and kind.rpartition("/")[2] != "DaemonSet":
            kind, name = "apps/DaemonSet", ""  # treated as if, without one that could be looked for
        return PodRecord(
            self._pods.read(obj),
            meta.get("creationTimestamp") or "",
            kind,
            name,
            annotations.get(SAFE_TO_EVICT, ""),
            _MIRROR in annotations,
            _local_volumes(spec, annotations.get(LOCAL_VOLUMES, "")),
            meta.get("deletionTimestamp") or "",
            spec.get("terminationGracePeriodSeconds") or 0,
            status.get("phase") in ("Succeeded", "Failed"),
            any(entry.get("type") == "Ready" and entry.get("status") == "True" for entry in conditions),
            annotations.get(SCALE_UP_DELAY, ""),
            annotations.get(_EVICT_DAEMON, ""),
            next((annotations[name] for name in CONSUMES if name in annotations), ""),
        )


def _local_volumes(spec: Object, safe: str) -> tuple[str, ...]:
    """Return the volumes on the node's own disk, but for those that may be lost."""
    fine = safe.split(",")
    return tuple(
        volume["name"]
        for volume in spec.get("volumes") or ()
        if ("hostPath" in volume or _on_disk(volume)) and volume["name"] not in fine
    )


def _on_disk(volume: Object) -> bool:
    empty = volume.get("emptyDir")
    return empty is not None and empty.get("medium") != "Memory"
