"""PersistentVolumeClaim protection: a claim is deleted only when no pod uses it; its status says whether any does."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import PERSISTENT_VOLUME_CLAIMS, PODS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import is_terminal
from pybernetes.control_plane.controllers._volumes.claims import by_claim, is_shut_down, keeps, uses
from pybernetes.control_plane.controllers._volumes.protection import Protection
from pybernetes.lib import rfc3339
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.runtime import Runtime

FINALIZER = "kubernetes.io/pvc-protection"


def unused_condition(claim: Object, used: bool, now: str) -> Object | None:
    """Return the desired condition Unused, or None if nothing changes."""
    known = condition_of(claim, "Unused")
    status = "False" if used else "True"
    if known is not None and (known["status"] == status or (used and known["status"] != "True")):
        return None
    reason, message = (
        ("PodUsingPVC", "A pod is currently referencing this PVC")
        if used
        else ("NoPodsUsingPVC", "No pods are currently referencing this PVC")
    )
    return {
        "type": "Unused",
        "status": status,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


class PersistentVolumeClaimProtection(Protection):
    """Works on keys of claims."""

    name = "persistentvolumeclaim-protection-controller"
    kind = PERSISTENT_VOLUME_CLAIMS
    finalizer = FINALIZER
    indexes = {PODS: (by_claim,)}

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.cache(PODS).add_handler(self._pod_changed)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            return False
        bound = new.get("status", {}).get("phase") == "Bound"
        return super().concerns(old, new) or (bound and condition_of(new, "Unused") is None)

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None and new is not None:
            if _facts(old) == _facts(new):
                return
        for key in by_claim(new or old):  # type: ignore[arg-type]
            self.enqueue(key)

    async def reconcile(self, key: str) -> float | None:
        """Write whether the claim is in use, then protect it or let it go."""
        claim = self.objects.get(key)
        if (
            claim is not None
            and not is_being_deleted(claim)
            and claim.get("status", {}).get("phase") == "Bound"
        ):
            pods = self.cache(PODS).find(by_claim, key)
            used = any(uses(pod, claim) and not is_terminal(pod) for pod in pods)
            wanted = unused_condition(claim, used, rfc3339.seconds(self.clock.now()))
            if wanted is not None:
                status = claim["status"]
                others = [
                    condition for condition in status.get("conditions") or () if condition["type"] != "Unused"
                ]
                changed = {**claim, "status": {**status, "conditions": [*others, wanted]}}
                try:
                    await self.client.update_status(PERSISTENT_VOLUME_CLAIMS, changed)
                except NotFound:
                    return None
        return await super().reconcile(key)

    async def is_used(self, obj: Object) -> bool:
        """Return whether a pod uses the claim; the server is asked too, as the cache may miss a new pod."""
        if any(keeps(pod, obj) for pod in self.cache(PODS).find(by_claim, key_of(obj))):
            return True
        pods = (await self.client.list(PODS, obj["metadata"]["namespace"])).items
        return any(keeps(pod, obj) for pod in pods)


def _facts(pod: Object) -> tuple[object, ...]:
    return pod["spec"].get("nodeName"), is_terminal(pod), is_shut_down(pod)


CONTROLLER = Descriptor(
    name=PersistentVolumeClaimProtection.name,
    aliases=("pvc-protection",),
    identity="pvc-protection-controller",
    build=lambda runtime, options: PersistentVolumeClaimProtection(runtime),
)
