"""Has a pod's volumes bound or made once its node is chosen, and waits until they are there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client, copy
from pybernetes.client.refs import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from pybernetes.control_plane.scheduler.binder import BindingError
from pybernetes.scheduling import persistent_volumes
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.persistent_volumes import Plan, annotations_of, key_of
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import Snapshot


def bound_volume(volume: Object, claim: Object) -> Object:
    """Return a copy of a volume that is bound to a claim."""
    result = copy(dict(volume))
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
    result = copy(dict(claim))
    result["metadata"].setdefault("annotations", {})[persistent_volumes.SELECTED_NODE] = node
    return result


class Reservation:
    """What is taken to be so about a pod's volumes while it is on its way to its node."""

    def __init__(self, keeper: Listers, plan: Plan, node: str) -> None:
        self._keeper = keeper
        self.node = node
        self.volumes = [bound_volume(volume, claim) for volume, claim in plan.bindings]
        self.claims = [selected_claim(claim, node) for claim in plan.provisions]
        self.bound = [key_of(claim) for _, claim in plan.bindings]
        for volume in self.volumes:
            keeper.assume(persistent_volumes.VOLUMES, key_of(volume), volume)
        for claim in self.claims:
            keeper.assume(persistent_volumes.CLAIMS, key_of(claim), claim)

    def revert(self) -> None:
        """Revert all assumptions."""
        for volume in self.volumes:
            self._keeper.revert(persistent_volumes.VOLUMES, key_of(volume))
        for claim in self.claims:
            self._keeper.revert(persistent_volumes.CLAIMS, key_of(claim))


class VolumeBinder:
    """Writes what a reservation says, and waits for the controllers to do their part."""

    def __init__(self, client: Client, keeper: Listers, snapshot: Snapshot, seconds: float) -> None:
        self._client, self._keeper, self._snapshot, self._seconds = client, keeper, snapshot, seconds
        self._waiting: set[asyncio.Event] = set()

    def changed(self) -> None:
        """Check again: a volume or a claim has changed."""
        for event in self._waiting:
            event.set()

    async def bind(self, pod: Pod, reservation: Reservation) -> None:
        """Wait until all volumes are bound; raise BindingError if that cannot be."""
        for volume in reservation.volumes:
            await self._client.update(PERSISTENT_VOLUMES, volume)
        for claim in reservation.claims:
            await self._client.update(PERSISTENT_VOLUME_CLAIMS, claim)
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            async with asyncio.timeout(self._seconds):
                while not self._all_bound(reservation):
                    event.clear()
                    await event.wait()
        except TimeoutError:
            raise BindingError("binding volumes: context deadline exceeded") from None
        finally:
            self._waiting.discard(event)

    def _all_bound(self, reservation: Reservation) -> bool:
        node = self._snapshot.node(reservation.node)
        if node is None:
            raise BindingError(f'binding volumes: failed to get node "{reservation.node}"')
        return self._check(reservation.bound, False, reservation.node, node.labels) and self._check(
            [key_of(claim) for claim in reservation.claims], True, reservation.node, node.labels
        )

    def _check(self, keys: list[str], made: bool, node: str, labels: dict[str, str]) -> bool:
        get: Callable[[str, str], Object | None] = self._keeper.current
        for key in keys:
            claim = get(persistent_volumes.CLAIMS, key)
            if claim is None:
                raise BindingError(f'binding volumes: failed to check binding: could not find claim "{key}"')
            if made and annotations_of(claim).get(persistent_volumes.SELECTED_NODE) != node:
                raise BindingError(
                    f'binding volumes: provisioning failed for PVC "{claim["metadata"]["name"]}"'
                )
            if not persistent_volumes.is_bound(claim):
                return False
            volume = get(persistent_volumes.VOLUMES, claim["spec"]["volumeName"])
            if volume is None:
                return False
            terms = persistent_volumes.node_affinity(volume)
            if terms is not None and not any(term.matches("", labels) for term in terms):
                name = volume["metadata"]["name"]
                raise BindingError(f'binding volumes: pv "{name}" node affinity doesn\'t match node "{node}"')
        return True
