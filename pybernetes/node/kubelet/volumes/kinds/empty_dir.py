"""emptyDir: a folder that lives as long as its pod, on disk or in memory."""

from __future__ import annotations

import os

from pybernetes.api import quantity
from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.nested_mounts import make_mount_points
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume, PathVolume, VolumeRequest


async def _mount(request: VolumeRequest) -> MountedVolume:
    medium = request.source.get("medium", "")
    if medium not in ("", "Memory"):
        raise VolumeError(f"the medium {medium} of an emptyDir is not supported by this kubelet")
    fresh = not request.path.exists()
    if fresh:
        request.path.mkdir(parents=True)
    if medium == "Memory" and not os.path.ismount(request.path):
        limit = request.source.get("sizeLimit")
        size = f",size={quantity.integer(limit)}" if limit and quantity.parse(limit) else ""
        host_mounts.mount("tmpfs", request.path, "tmpfs", options=f"mode=0777{size}")
        fresh = True
    if fresh:
        os.chmod(request.path, 0o777)
        make_mount_points(request.path, request.nested)
    return MountedVolume(str(request.path))


VOLUME = PathVolume("emptyDir", _mount, takes_fs_group=True)
