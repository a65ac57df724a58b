"""Persistent volume binder: brings claims and volumes together, and asks external provisioners for what is missing.

``match`` finds the volume for a claim, ``plan`` says what to do about either; this writes it.
"""

from __future__ import annotations

from pybernetes.api.default_class import STORAGE, default_class
from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._volumes.claims import by_claim, class_of
from pybernetes.control_plane.controllers.persistentvolume_binder import match, plan
from pybernetes.control_plane.controllers.persistentvolume_binder.plan import Step
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.cache import key_of, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

_VOLUME = "volume "  # how keys of volumes begin
_OPEN = "open"


def by_reference(volume: Object) -> tuple[str, ...]:
    """Index volumes by the key of the claim that they are bound to or reserved for."""
    reference = volume["spec"].get("claimRef")
    return (f"{reference.get('namespace')}/{reference.get('name')}",) if reference else ()


def by_free_class(volume: Object) -> tuple[str, ...]:
    """Index unclaimed volumes by their class."""
    return () if volume["spec"].get("claimRef") else (class_of(volume),)


def by_volume_name(claim: Object) -> tuple[str, ...]:
    """Index claims by the volume that they name."""
    name = claim["spec"].get("volumeName")
    return (name,) if name else ()


def by_open_class(claim: Object) -> tuple[str, ...]:
    """Index claims without a volume, all together and by class."""
    if claim["spec"].get("volumeName"):
        return ()
    return (_OPEN, f"{_OPEN} {class_of(claim)}")


class PersistentVolumeBinder(Controller):
    """Works on keys of claims, and of volumes."""

    name = "persistentvolume-binder-controller"
    kind = PERSISTENT_VOLUME_CLAIMS
    indexes = {
        PERSISTENT_VOLUME_CLAIMS: (by_volume_name, by_open_class),
        PERSISTENT_VOLUMES: (by_reference, by_free_class),
        PODS: (by_claim,),
    }

    def __init__(self, runtime: Runtime, provisioning: bool = True) -> None:
        super().__init__(runtime)
        self._provisioning = provisioning
        self._recorder = runtime.recorder("persistentvolume-controller")
        self.cache(PERSISTENT_VOLUMES).add_handler(self._volume_changed)
        self.cache(STORAGE_CLASSES).add_handler(self._class_changed)

    # -- changes become keys -----------------------------------------------------------------------------

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        for claim in (old, new):
            if claim is not None:
                names = {*by_volume_name(claim)}
                names |= {volume["metadata"]["name"] for volume in self.cache(PERSISTENT_VOLUMES).find(by_reference, key_of(claim))}  # fmt: skip
                for name in names:
                    self.enqueue(_VOLUME + name)
        return new is not None

    def _volume_changed(self, old: Object | None, new: Object | None) -> None:
        for volume in (old, new):
            if volume is None:
                continue
            name = volume["metadata"]["name"]
            for key in (*by_reference(volume), *self.objects.find_keys(by_volume_name, name)):
                if key in self.objects:
                    self.enqueue(key)
        if new is None:
            return
        self.enqueue(_VOLUME + new["metadata"]["name"])
        if not new["spec"].get("claimRef") and new.get("status", {}).get("phase") == "Available":
            for key in self.objects.find_keys(by_open_class, f"{_OPEN} {class_of(new)}"):
                self.enqueue(key)

    def _class_changed(self, old: Object | None, new: Object | None) -> None:
        for key in self.objects.find_keys(by_open_class, _OPEN):
            self.enqueue(key)

    # -- claims ------------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> None:
        """Take a claim or a volume one step further."""
        if key.startswith(_VOLUME):
            await self._reconcile_volume(key.removeprefix(_VOLUME))
            return
        claim = self.objects.get(key)
        if claim is None:
            return
        volumes = self.cache(PERSISTENT_VOLUMES)
        named = volumes.get(claim["spec"].get("volumeName") or "")
        if plan.annotation(claim, plan.COMPLETED) is not None:
            step = plan.bound_claim(claim, named)
        elif claim["spec"].get("volumeName"):
            step = plan.named_claim(claim, named)
        else:
            step = self._open_step(key, claim)
        await self._apply(claim, step)

    def _open_step(self, key: str, claim: Object) -> Step:
        volumes = self.cache(PERSISTENT_VOLUMES)
        storage_class = self.cache(STORAGE_CLASSES).get(class_of(claim))
        kept = volumes.find(by_reference, key)
        free = volumes.find(by_free_class, class_of(claim))
        best = match.find(claim, [*kept, *free], plan.is_delayed(storage_class))
        default = default_class(self.cache(STORAGE_CLASSES), STORAGE)
        pods = [
            pod["metadata"]["name"]
            for pod in self.cache(PODS).find(by_claim, key)
            if not pod["spec"].get("nodeName")
        ]
        return plan.open_claim(
            claim, best, storage_class, default["metadata"]["name"] if default is not None else "", pods
        )

    async def _apply(self, claim: Object, step: Step) -> None:
        try:
            if step.what == "bind" and step.volume is not None:
                await self._bind(claim, step.volume)
            elif step.what == "set class":
                changed = {**claim, "spec": {**claim["spec"], "storageClassName": step.name}}
                await self.client.update(PERSISTENT_VOLUME_CLAIMS, changed)
            elif step.what == "provision":
                if self._provisioning:
                    await self._ask_provisioner(claim, step)
            elif step.what == "lost":
                if claim.get("status", {}).get("phase") != "Lost":
                    await self._set_status(claim, "Lost", None)
                    self._report(claim, step)
            else:
                self._report(claim, step)
                await self._set_status(claim, "Pending", None)
        except NotFound:
            pass

    def _report(self, obj: Object, step: Step) -> None:
        if step.event is not None:
            self._recorder.event(obj, *step.event)

    async def _bind(self, claim: Object, volume: Object) -> None:
        """Bind volume and claim to each other, the volume first, and mark both as bound."""
        changed = plan.bound_volume(volume, claim)
        if changed is not None:
            volume = await self.client.update(PERSISTENT_VOLUMES, changed)
        await self._set_phase(volume, "Bound")
        changed = plan.bound_to_volume(claim, volume)
        if changed is not None:
            claim = await self.client.update(PERSISTENT_VOLUME_CLAIMS, changed)
        await self._set_status(claim, "Bound", volume)

    async def _ask_provisioner(self, claim: Object, step: Step) -> None:
        annotations = plan.provisioner_annotations(claim, step.name)
        if annotations != (claim["metadata"].get("annotations") or {}):
            changed = {**claim, "metadata": {**claim["metadata"], "annotations": annotations}}
            claim = await self.client.update(PERSISTENT_VOLUME_CLAIMS, changed)
        self._report(claim, step)

    async def _set_status(self, claim: Object, phase: str, volume: Object | None) -> None:
        status = plan.claim_status(claim, phase, volume)
        if status is not None:
            await self.client.update_status(PERSISTENT_VOLUME_CLAIMS, {**claim, "status": status})

    # -- volumes -----------------------------------------------------------------------------------------

    async def _reconcile_volume(self, name: str) -> None:
        volume = self.cache(PERSISTENT_VOLUMES).get(name)
        if volume is None:
            return
        claim = await self._claim_of(volume)
        step = plan.volume_step(volume, claim)
        self._report(volume, step)
        try:
            if step.what in ("available", "bound"):
                await self._set_phase(volume, step.what.capitalize())
            elif step.what == "sync claim" and claim is not None:
                self.enqueue(key_of(claim))
            elif step.what == "unbind":
                volume = await self.client.update(PERSISTENT_VOLUMES, plan.unbound_volume(volume))
                await self._set_phase(volume, "Available")
            elif step.what == "reclaim":
                await self._reclaim(volume)
        except NotFound:
            pass

    async def _claim_of(self, volume: Object) -> Object | None:
        """Return the claim that a volume is bound to; the server is asked before it counts as gone."""
        reference = volume["spec"].get("claimRef")
        if not reference or not reference.get("uid"):
            return None
        key = f"{reference.get('namespace')}/{reference.get('name')}"
        claim = self.objects.get(key)
        if claim is not None and claim["metadata"]["uid"] == reference["uid"]:
            return claim
        if claim is None and volume.get("status", {}).get("phase") in ("Released", "Failed"):
            return None
        namespace, name = split_key(key)
        try:
            claim = await self.client.get(PERSISTENT_VOLUME_CLAIMS, name, namespace)
        except NotFound:
            return None
        return claim if claim["metadata"]["uid"] == reference["uid"] else None

    async def _reclaim(self, volume: Object) -> None:
        if volume.get("status", {}).get("phase") not in ("Released", "Failed"):
            volume = await self._set_phase(volume, "Released")
        step = plan.reclaim(volume)
        if step.what == "failed" and volume.get("status", {}).get("phase") != "Failed":
            await self._set_phase(volume, "Failed", step.event[2] if step.event is not None else "")
            self._report(volume, step)

    async def _set_phase(self, volume: Object, phase: str, message: str = "") -> Object:
        status = volume.get("status", {})
        if status.get("phase") == phase:
            return volume
        status = {name: value for name, value in status.items() if name != "message"}
        status["phase"] = phase
        if message:
            status["message"] = message
        return await self.client.update_status(PERSISTENT_VOLUMES, {**volume, "status": status})


CONTROLLER = Descriptor(
    name=PersistentVolumeBinder.name,
    aliases=("persistentvolume-binder",),
    identity="persistent-volume-binder",
    flags=(
        Flag("enable-dynamic-provisioning", True, "ask external provisioners for volumes"),
        Flag("pvclaimbinder-sync-period", Seconds(15), "accepted and not needed: nothing is synced by time"),
    ),
    build=lambda runtime, options: PersistentVolumeBinder(runtime, options.enable_dynamic_provisioning),
)
