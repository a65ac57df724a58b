"""Ephemeral volumes: makes the claims that pods bring with them as templates."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import AlreadyExists, StatusError
from pybernetes.client.refs import PERSISTENT_VOLUME_CLAIMS, PODS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted, is_namespace_terminating
from pybernetes.control_plane.controllers._volumes.claims import by_claim, is_made_for
from pybernetes.lib.flags import Flag
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.owned_objects import owner_reference
from pybernetes.runtime.runtime import Runtime


def templates(pod: Object) -> list[tuple[str, Object]]:
    """Return the ephemeral volumes of a pod: their names and the desired claims."""
    meta = pod["metadata"]
    owner = owner_reference(pod, PODS)
    claims = []
    for volume in pod["spec"].get("volumes") or ():
        if "ephemeral" in volume:
            template = volume["ephemeral"].get("volumeClaimTemplate") or {}
            own = {
                name: value
                for name, value in (template.get("metadata") or {}).items()
                if name in ("labels", "annotations")
            }
            claim = {
                "metadata": {
                    "name": f"{meta['name']}-{volume['name']}",
                    "namespace": meta["namespace"],
                    "ownerReferences": [owner],
                    **own,
                },
                "spec": template.get("spec") or {},
            }
            claims.append((volume["name"], claim))
    return claims


class EphemeralVolumeController(Controller):
    """Works on keys of pods."""

    name = "ephemeral-volume-controller"
    kind = PODS
    indexes = {PODS: (by_claim,)}

    def __init__(self, runtime: Runtime, workers: int = 5) -> None:
        super().__init__(runtime)
        self.workers = workers
        self._recorder = runtime.recorder("ephemeral_volume")
        self.cache(PERSISTENT_VOLUME_CLAIMS).add_handler(self._claim_changed)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None or old is not None or is_being_deleted(new):  # the volumes of a pod do not change
            return False
        return any("ephemeral" in volume for volume in new["spec"].get("volumes") or ())

    def _claim_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            for key in self.cache(PODS).find_keys(by_claim, key_of(old)):
                self.enqueue(key)

    async def reconcile(self, key: str) -> None:
        """Create the missing claims of a pod."""
        pod = self.objects.get(key)
        if pod is None or is_being_deleted(pod):
            return
        for name, claim in templates(pod):
            existing = self.cache(PERSISTENT_VOLUME_CLAIMS).get(key_of(claim))
            if existing is not None:
                if not is_made_for(existing, pod):
                    self._fail(
                        pod, name, f"PVC {key_of(claim)} was not created for pod {key} (pod is not owner)"
                    )
                continue
            try:
                await self.client.create(PERSISTENT_VOLUME_CLAIMS, claim)
            except AlreadyExists:
                raise
            except StatusError as error:
                if is_namespace_terminating(error):
                    return
                self._fail(pod, name, f"create PVC {claim['metadata']['name']}: {error.message}")
                raise

    def _fail(self, pod: Object, volume: str, why: str) -> None:
        self._recorder.warning(pod, "FailedBinding", f"ephemeral volume {volume}: {why}")


CONTROLLER = Descriptor(
    name=EphemeralVolumeController.name,
    aliases=("ephemeral-volume",),
    identity="ephemeral-volume-controller",
    flags=(Flag("concurrent-ephemeralvolume-syncs", 5, "how many pods are worked on at a time"),),
    build=lambda runtime, options: EphemeralVolumeController(
        runtime, options.concurrent_ephemeralvolume_syncs
    ),
)
