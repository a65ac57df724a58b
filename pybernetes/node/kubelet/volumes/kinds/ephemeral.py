"""ephemeral: a claim that was created for the pod and is deleted with it."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.kinds.persistent_volume_claim import claimed
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume, PathVolume, VolumeRequest


async def _mount(request: VolumeRequest) -> MountedVolume:
    meta = request.pod["metadata"]
    return await claimed(request, f"{meta['name']}-{request.name}", False, meta["uid"])


VOLUME = PathVolume("ephemeral", _mount)
