"""emptyDir: a folder that lives as long as its pod, on disk or in memory."""

from __future__ import annotations

import os

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cgroups.linux_resources import pod_resources
from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.nested_mounts import make_mount_points
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume, PathVolume, VolumeRequest


def memory_size(limit: str | int | None, pod: Object, allocatable: str | None) -> int:
    """Return the bytes of a volume in memory: the least of what it, its pod and the node have; 0 if nobody says.

    The kernel takes a number that is too large for it for none, and none means no limit.
    """
    amounts = [pod_resources(pod)[2], *(quantity.integer(text) for text in (limit, allocatable) if text)]
    return min((amount for amount in amounts if amount > 0), default=0)


async def _mount(request: VolumeRequest) -> MountedVolume:
    medium = request.source.get("medium", "")
    if medium not in ("", "Memory"):
        raise VolumeError(f"the medium {medium} of an emptyDir is not supported by this kubelet")
    fresh = not request.path.exists()
    if fresh:
        request.path.mkdir(parents=True)
    if medium == "Memory" and not host_mounts.has_own_filesystem(request.path):
        allocatable = request.inputs.node().get("status", {}).get("allocatable", {}).get("memory")
        size = memory_size(request.source.get("sizeLimit"), request.pod, allocatable)
        options = f"mode=0777,size={size}" if size else "mode=0777"
        host_mounts.mount("tmpfs", request.path, "tmpfs", options=options)
        fresh = True
    if fresh:
        os.chmod(request.path, 0o777)
        make_mount_points(request.path, request.nested)
    return MountedVolume(str(request.path), managed=True)


VOLUME = PathVolume("emptyDir", _mount)
