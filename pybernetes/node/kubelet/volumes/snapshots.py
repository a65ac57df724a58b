"""Images as folders, for runtimes that cannot mount an image: views of containerd's snapshots.

A lease of containerd stands for each volume. It keeps the view from containerd's garbage collection, it says which
image it is, and the view goes with it: so a restarted kubelet finds everything again and leaves nothing behind.
"""

from __future__ import annotations

import os
from pathlib import Path

from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.containerd import Containerd
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.volumes import host_mounts

_IMAGE = "io.kubernetes.volume.image"
_SEALED = host_mounts.MS_RDONLY | host_mounts.MS_NOSUID | host_mounts.MS_NODEV | host_mounts.MS_NOEXEC
_FLAGS = {"ro": 0, "bind": host_mounts.MS_BIND, "rbind": host_mounts.MS_BIND | host_mounts.MS_REC}
_LONGEST = 4000  # the kernel takes a page of options


def lease_id(uid: str, name: str) -> str:
    """Return the name of the lease of a volume, and of its view."""
    return f"pybernetes-volume-{uid}-{name}"


def mount_arguments(how: Message) -> tuple[int, str]:
    """Return the flags and the options of the mount(2) call for a snapshot."""
    flags, options = 0, []
    for option in how.options:
        if option in _FLAGS:
            flags |= _FLAGS[option]
        else:
            options.append(option)
    return flags, ",".join(options)


class Snapshots:
    """The views that pods have of images."""

    def __init__(self, containerd: Containerd) -> None:
        self._containerd = containerd

    async def find(self, uid: str, name: str, path: Path) -> str | None:
        """Return the image that is mounted as a volume, if there is one."""
        # Without the complete mount, the folder could be written to.
        if not path.exists() or os.statvfs(path).f_flag & _SEALED != _SEALED:
            return None
        labels = await self._containerd.lease_labels(lease_id(uid, name))
        return labels.get(_IMAGE) if labels is not None else None

    async def mount(self, uid: str, name: str, path: Path, image: str) -> None:
        """Mount the files of an image (by its id in CRI) at a path, where nobody can write or execute them."""
        id_ = lease_id(uid, name)
        await self.release(uid, name, path)  # it may be half done
        snapshotter, snapshot = await self._containerd.unpacked(image)
        path.mkdir(parents=True, exist_ok=True)  # first, because cleaning up starts from the folder
        await self._containerd.create_lease(id_, {_IMAGE: image})
        mounts = await self._containerd.view(snapshotter, id_, snapshot, id_)
        if len(mounts) != 1:
            raise CriError(
                "UNIMPLEMENTED", f"the snapshotter {snapshotter} needs {len(mounts)} mounts for an image"
            )
        mount_snapshot(mounts[0], path)

    async def release(self, uid: str, name: str, path: Path) -> None:
        """Remove a volume, as much of it as there is."""
        if path in host_mounts.mounts_below(path.parent):
            host_mounts.unmount(path)
        await self._containerd.delete_lease(lease_id(uid, name))


def mount_snapshot(how: Message, path: Path) -> None:
    """Mount a snapshot so that nobody can write or execute anything."""
    flags, options = mount_arguments(how)
    if flags & host_mounts.MS_BIND:  # the kernel takes other flags only when a bind mount is remounted
        host_mounts.mount(how.source, path, how.type, flags, options)
        host_mounts.mount(how.source, path, how.type, host_mounts.MS_REMOUNT | host_mounts.MS_BIND | _SEALED)
        return
    if len(options) < _LONGEST:
        host_mounts.mount(how.source, path, how.type, flags | _SEALED, options)
        return
    # An image of many layers: a short name for their common folder keeps the options below the limit.
    common = os.path.commonpath(_paths(options))
    folder = os.open(common, os.O_PATH | os.O_DIRECTORY)
    try:
        short = options.replace(f"{common}/", f"/proc/self/fd/{folder}/")
        host_mounts.mount(how.source, path, how.type, flags | _SEALED, short)
    finally:
        os.close(folder)


def _paths(options: str) -> list[str]:
    values = [option.partition("=")[2] for option in options.split(",")]
    return [path for value in values for path in value.split(":") if path.startswith("/")]
