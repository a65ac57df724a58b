"""What is assumed about a pod's volumes while the pod is on its way to its node."""

from __future__ import annotations

import copy

from pybernetes.api.resource import Object
from pybernetes.scheduling import persistent_volumes
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.persistent_volumes import Plan, key_of


def bound_volume(volume: Object, claim: Object) -> Object:
    """Return a copy of a volume that is bound to a claim."""
    result = copy.deepcopy(volume)
    meta = claim["metadata"]
    if not persistent_volumes.is_for(volume, claim):
        result["metadata"].setdefault("annotations", {})[persistent_volumes.BOUND_BY_CONTROLLER] = "yes"
    result["spec"]["claimRef"] = {
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": meta["namespace"], "name": meta["name"],
        "uid": meta.get("uid", ""), "resourceVersion": meta.get("resourceVersion", ""),
    }  # fmt: skip
    return result


def selected_claim(claim: Object, node: str) -> Object:
    """Return a copy of a claim for which a volume is to be provisioned on a node."""
    result = copy.deepcopy(claim)
    result["metadata"].setdefault("annotations", {})[persistent_volumes.SELECTED_NODE] = node
    return result


class Reservation:
    """The volumes and claims of a pod as they will be once it is bound."""

    def __init__(self, listers: Listers, plan: Plan, node: str) -> None:
        self._listers = listers
        self.node = node
        self.volumes = [bound_volume(volume, claim) for volume, claim in plan.bindings]
        self.claims = [selected_claim(claim, node) for claim in plan.provisions]
        self.bound = [key_of(claim) for _, claim in plan.bindings]
        for volume in self.volumes:
            listers.assume(persistent_volumes.VOLUMES, key_of(volume), volume)
        for claim in self.claims:
            listers.assume(persistent_volumes.CLAIMS, key_of(claim), claim)

    def revert(self) -> None:
        """Revert all assumptions."""
        for volume in self.volumes:
            self._listers.revert(persistent_volumes.VOLUMES, key_of(volume))
        for claim in self.claims:
            self._listers.revert(persistent_volumes.CLAIMS, key_of(claim))
