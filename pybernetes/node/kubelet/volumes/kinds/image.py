"""image: the files of an image, pulled and mounted when the first container that mounts it starts."""

from __future__ import annotations

from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume, PathVolume, VolumeRequest


async def _mount(request: VolumeRequest) -> MountedVolume:
    return MountedVolume("", True)


VOLUME = PathVolume("image", _mount, measured=False)
