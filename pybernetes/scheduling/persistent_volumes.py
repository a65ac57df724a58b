"""Volumes and claims as the scheduler sees them: what the server has, changed by the decisions in flight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pybernetes.api import quantity, selectors
from pybernetes.api.resource import Object
from pybernetes.api.selectors import Requirement, Selector
from pybernetes.scheduling.affinity_terms import NodeTerm, node_terms
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.pods import Pod

CLAIMS, VOLUMES, CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses"
DRIVERS, CAPACITIES = "csidrivers", "csistoragecapacities"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_NO_PROVISIONER = "kubernetes.io/no-provisioner"


class StorageError(ValueError):
    """A pod cannot be scheduled because of its claims; the message says why."""


class PodClaims(NamedTuple):
    """The claims of a pod: bound, to be bound once a node is chosen, and still waiting to be bound."""

    bound: tuple[Object, ...]
    delayed: tuple[Object, ...]
    immediate: tuple[Object, ...]


class Plan(NamedTuple):
    """What is to be done about a pod's claims on its node: volumes to bind to claims, volumes to make."""

    bindings: tuple[tuple[Object, Object], ...]  # volume and claim
    provisions: tuple[Object, ...]  # claims


def key_of(obj: Object) -> str:
    """Return the key of an object among those of its kind."""
    meta = obj["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else meta["name"]


def annotations_of(obj: Object) -> Mapping[str, str]:
    """Return the annotations of an object."""
    return obj["metadata"].get("annotations") or {}


def class_of(obj: Object) -> str:
    """Return the storage class of a claim or of a volume."""
    return annotations_of(obj).get(_BETA_CLASS) or (obj.get("spec") or {}).get("storageClassName") or ""


def is_bound(claim: Object) -> bool:
    """Return whether a claim is fully bound to its volume."""
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations_of(claim)


def wanted_size(claim: Object) -> int:
    """Return how many bytes a claim asks for."""
    amount = (claim["spec"].get("resources") or {}).get("requests", {}).get("storage")
    return 0 if amount is None else quantity.integer(amount)


def size_of(volume: Object) -> int:
    """Return how many bytes a volume has."""
    amount = (volume["spec"].get("capacity") or {}).get("storage")
    return 0 if amount is None else quantity.integer(amount)


def is_for(volume: Object, claim: Object) -> bool:
    """Return whether a volume is bound to a claim, or meant for it."""
    ref = volume["spec"].get("claimRef")
    if not ref:
        return False
    meta = claim["metadata"]
    if ref.get("name") != meta["name"] or ref.get("namespace") != meta["namespace"]:
        return False
    return not ref.get("uid") or ref["uid"] == meta.get("uid")


def node_affinity(volume: Object) -> tuple[NodeTerm, ...] | None:
    """Return the terms that a node must meet one of to have a volume; None if any will do."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return None if required is None else node_terms(required)


def suits(volume: Object, claim: Object) -> bool:
    """Return whether a volume could be bound to a claim, whatever the node."""
    spec, wanted = volume["spec"], claim["spec"]
    if volume["metadata"].get("deletionTimestamp") or size_of(volume) < wanted_size(claim):
        return False
    if spec.get("volumeMode", "Filesystem") != wanted.get("volumeMode", "Filesystem"):
        return False
    if (spec.get("volumeAttributesClassName") or "") != (wanted.get("volumeAttributesClassName") or ""):
        return False
    if is_for(volume, claim):
        return True
    if spec.get("claimRef") or (volume.get("status") or {}).get("phase") != "Available":
        return False
    selector = wanted.get("selector")
    if selector is not None and not selectors.from_object(selector).matches(volume["metadata"].get("labels")):
        return False
    return class_of(volume) == class_of(claim) and set(wanted.get("accessModes") or ()) <= set(
        spec.get("accessModes") or ()
    )


def topologies(storage_class: Object) -> list[Selector] | None:
    """Return selectors of which a node must match one to get volumes of a class; None: any node will do."""
    terms = storage_class.get("allowedTopologies") or ()
    if not terms:
        return None
    return [
        Selector(
            tuple(
                Requirement(expression.get("key", ""), "in", tuple(expression.get("values") or ()))
                for expression in wanted
            )
        )
        for term in terms
        if (wanted := term.get("matchLabelExpressions") or ())
    ]


def provisions(storage_class: Object) -> bool:
    """Return whether volumes of a class are made on demand."""
    return storage_class.get("provisioner", "") not in ("", _NO_PROVISIONER)


def is_controlled_by(claim: Object, pod: Pod) -> bool:
    """Return whether a claim was made for a pod."""
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == pod.uid for owner in owners)


class Storage:
    """The claims of pods, and volumes for them. ``get`` returns an object as it is assumed to be."""

    def __init__(self, listers: Listers) -> None:
        self._listers = listers
        self.get = listers.current

    def volumes(self, storage_class: str) -> list[Object]:
        """Return the volumes of a class, in a stable order."""
        volumes = [self.get(VOLUMES, key_of(volume)) for volume in self._listers.all(VOLUMES)]
        return [volume for volume in volumes if volume is not None and class_of(volume) == storage_class]

    def claims(self, pod: Pod) -> PodClaims:
        """Return the claims of a pod; raise StorageError if something is wrong with one."""
        volumes = pod.shape.volumes
        bound, delayed, immediate = [], [], []
        for name, ephemeral in volumes.claims if volumes is not None else ():
            claim = self._claim(pod, name, ephemeral)
            if is_bound(claim):
                bound.append(claim)
            elif self._waits_for_node(claim) and not claim["spec"].get("volumeName"):
                delayed.append(claim)
            else:
                immediate.append(claim)
        return PodClaims(tuple(bound), tuple(delayed), tuple(immediate))

    def _claim(self, pod: Pod, name: str, ephemeral: bool) -> Object:
        claim = self.get(CLAIMS, f"{pod.namespace}/{name}")
        if claim is None:
            if ephemeral:
                raise StorageError(
                    f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
                )
            raise StorageError(f'persistentvolumeclaim "{name}" not found')
        if (claim.get("status") or {}).get("phase") == "Lost":
            volume = claim["spec"].get("volumeName", "")
            raise StorageError(
                f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
            )
        if claim["metadata"].get("deletionTimestamp"):
            raise StorageError(f'persistentvolumeclaim "{name}" is being deleted')
        if ephemeral and not is_controlled_by(claim, pod):
            raise StorageError(f"PVC {key_of(claim)} was not created for pod {pod.key} (pod is not owner)")
        return claim

    def _waits_for_node(self, claim: Object) -> bool:
        storage_class = self.get(CLASSES, class_of(claim))
        return storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"

    def capacities(self, claim: Object, storage_class: Object) -> list[Object] | None:
        """Return the capacities with room for a claim; None if the class's driver does not publish any."""
        driver = self.get(DRIVERS, storage_class.get("provisioner", ""))
        size = (claim["spec"].get("resources") or {}).get("requests", {}).get("storage")
        if size is None or driver is None or not (driver.get("spec") or {}).get("storageCapacity"):
            return None
        wanted, name = quantity.integer(size), storage_class["metadata"]["name"]
        return [
            capacity
            for capacity in self._listers.all(CAPACITIES)
            if capacity.get("storageClassName") == name and largest_volume(capacity) >= wanted
        ]


def largest_volume(capacity: Object) -> int:
    """Return the size of the largest volume that fits into a CSIStorageCapacity; -1 if it does not say."""
    limit = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return -1 if limit is None else quantity.integer(limit)
