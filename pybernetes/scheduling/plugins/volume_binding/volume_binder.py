"""Has a pod's volumes bound or provisioned once its node is chosen, and waits until they are there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.scheduling import persistent_volumes
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.persistent_volumes import annotations_of, key_of
from pybernetes.scheduling.plugin import BindingError
from pybernetes.scheduling.plugins.volume_binding.reservation import Reservation


class VolumeBinder:
    """Writes what a reservation says, and waits for the controllers to do their part."""

    def __init__(self, handle: Handle, seconds: float) -> None:
        self._writer, self._listers, self._snapshot = handle.writer, handle.listers, handle.snapshot
        self._seconds = seconds
        self._waiting: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        for kind in (persistent_volumes.VOLUMES, persistent_volumes.CLAIMS):
            handle.listers.listen(kind, self._changed)

    def _changed(self) -> None:
        """Check again: a volume or a claim has changed, which a thread beside the loop may have found out."""
        for event, loop in list(self._waiting.items()):
            loop.call_soon_threadsafe(event.set)

    async def bind(self, reservation: Reservation) -> None:
        """Wait until all volumes are bound; raise BindingError if that cannot be."""
        for volume in reservation.volumes:
            await self._writer.update(persistent_volumes.VOLUMES, volume)
        for claim in reservation.claims:
            await self._writer.update(persistent_volumes.CLAIMS, claim)
        event = asyncio.Event()
        self._waiting[event] = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds):
                while not self._all_bound(reservation):
                    event.clear()
                    await event.wait()
        except TimeoutError:
            raise BindingError("binding volumes: context deadline exceeded") from None
        finally:
            del self._waiting[event]

    def _all_bound(self, reservation: Reservation) -> bool:
        node = self._snapshot.node(reservation.node)
        if node is None:
            raise BindingError(f'binding volumes: failed to get node "{reservation.node}"')
        return self._check(reservation.bound, False, reservation.node, node.labels) and self._check(
            [key_of(claim) for claim in reservation.claims], True, reservation.node, node.labels
        )

    def _check(self, keys: list[str], made: bool, node: str, labels: dict[str, str]) -> bool:
        get: Callable[[str, str], Object | None] = self._listers.current
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
