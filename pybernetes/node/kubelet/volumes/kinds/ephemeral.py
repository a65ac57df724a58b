"""ephemeral: a claim that was made for the pod and goes with it."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.base import Mounted, Place, Request
from pybernetes.node.kubelet.volumes.kinds.persistent_volume_claim import claimed


async def _mount(request: Request) -> Mounted:
    meta = request.pod["metadata"]
    return await claimed(request, f"{meta['name']}-{request.name}", False, meta["uid"])


VOLUME = Place("ephemeral", _mount)
