"""Whether a pod lets its node go: upstream's rules, in their order. Pure."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.control_plane.autoscaler.cluster.pod_records import PodRecord

# Kinds of controllers that make another pod, of whatever group: others than Kubernetes have stateful sets, too.
_CONTROLLERS = frozenset({"ReplicationController", "ReplicaSet", "StatefulSet", "Job"})
# Of these the number of replicas counts.
_COUNTED = frozenset({"ReplicationController", "apps/ReplicaSet"})
# Reasons, as upstream has them in its metrics and status.
CONTROLLER_NOT_FOUND = "ControllerNotFound"
NOT_REPLICATED = "NotReplicated"
MIN_REPLICAS = "MinReplicasReached"
NOT_SAFE = "NotSafeToEvictAnnotation"
LOCAL_STORAGE = "LocalStorageRequested"
SYSTEM_POD = "UnmovableKubeSystemPod"
NOT_ENOUGH_PDB = "NotEnoughPdb"
ON_COMPLETION = "BlockedByOnCompletionPod"


class Options(NamedTuple):
    """What the flags say."""

    skips_system: bool = True
    skips_local_storage: bool = True
    skips_custom_controllers: bool = True
    minimum_replicas: int = 0
    system_seconds: float = 3600.0


class Verdict(NamedTuple):
    """Whether a pod has to be moved, is waited for until it ends, may stay until its node goes, or keeps its node."""

    moves: bool = False
    waits: bool = False
    blocks: str = ""
    text: str = ""


STAYS, MOVES, WAITS = Verdict(), Verdict(moves=True), Verdict(waits=True)


def verdict(
    record: PodRecord, options: Options, *, replicas: int | None, has_budget: bool, age: float, now: float
) -> Verdict:
    """Return what a pod means for its node.

    ``replicas`` is how many its controller wants (None: the controller is not there; 0 of one that is not known), ``age`` how old it is in seconds.
    """
    pod, key = record.pod, record.pod.key
    if record.mirror:
        return STAYS
    if record.overdue(now):
        return STAYS
    if not record.ends and options.skips_custom_controllers:
        if replicas is None:
            return Verdict(
                blocks=CONTROLLER_NOT_FOUND, text=f"{record.owner_kind} for {key} is not available"
            )
        if record.owner_kind in _COUNTED and replicas < options.minimum_replicas:
            text = f"{record.owner_kind} for {key} has too few replicas: {replicas}, minimum {options.minimum_replicas}"
            return Verdict(blocks=MIN_REPLICAS, text=text)
    if record.daemon:
        return STAYS
    if record.safe == "true" or record.ends:
        return MOVES
    if record.safe == "on-completion":
        return WAITS
    if options.skips_custom_controllers and record.owner_kind.rpartition("/")[2] not in _CONTROLLERS:
        return Verdict(blocks=NOT_REPLICATED, text=f"{key} is not replicated")
    if not options.skips_custom_controllers and not record.owner_kind:
        return Verdict(blocks=NOT_REPLICATED, text=f"{key} is not replicated")
    if (
        pod.namespace == "kube-system"
        and options.skips_system
        and not has_budget
        and age < options.system_seconds
    ):
        return Verdict(
            blocks=SYSTEM_POD,
            text=f"non-daemonset, non-mirrored, non-pdb-assigned kube-system pod present: {key}",
        )
    if record.safe == "false":
        return Verdict(blocks=NOT_SAFE, text=f"pod annotated as not safe to evict present: {key}")
    if record.local_volumes and options.skips_local_storage:
        return Verdict(blocks=LOCAL_STORAGE, text=f"pod with local storage present: {key}")
    return MOVES
