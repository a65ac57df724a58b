"""subPath: a folder or a file of a volume, mounted where only the kubelet can change it.

What a container shares with others can be exchanged for a link at any moment. So a sub-path is opened below its volume
once, what was opened is mounted at ``volume-subpaths/VOLUME/CONTAINER/INDEX`` in the pod's folder, and the runtime is
given that place. The mounts go with the pod's volumes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pybernetes.lib.files import opening, trees
from pybernetes.lib.files.opening import Links, make_folders, open_below
from pybernetes.node.kubelet.volumes import host_mounts

_FOLDER = "volume-subpaths"
# What is mounted below the volume afterwards reaches the container or not, as its mount says; and never the other way
# unless it says so: when the place is unmounted, nothing else may be.
_PROPAGATION = {"HostToContainer": host_mounts.MS_SLAVE, "Bidirectional": 0}


def mount_sub_path(
    volume: str, below: str, target: Path, propagation: str = "", links: Links = Links.INSIDE
) -> None:
    """Mount what is below a volume at a place; raise OSError if it is not there or leads out of the volume."""
    with opening.folder(volume, os.O_PATH) as top:
        descriptor = open_below(top, below, os.O_PATH, links)
        try:
            _bind(descriptor, target)
        finally:
            os.close(descriptor)
    flags = _PROPAGATION.get(propagation, host_mounts.MS_PRIVATE)
    if flags:
        host_mounts.mount("", target, "", flags)


def exists(volume: str, below: str) -> bool:
    """Return whether something has the name of a sub-path, be it a link out of the volume."""
    with opening.folder(volume, os.O_PATH) as top:
        try:
            os.close(open_below(top, below, os.O_PATH, Links.INSIDE))
        except FileNotFoundError:
            return False
        except OSError:
            pass
        return True


def make_sub_path(volume: str, below: str) -> None:
    """Make the folders of a sub-path that are missing, with the mode of the volume."""
    parts = below.split("/")
    with opening.folder(volume, os.O_PATH) as top:
        for count in range(len(parts), -1, -1):
            try:
                folder = open_below(top, "/".join(parts[:count]), os.O_PATH, Links.INSIDE)
                break
            except FileNotFoundError:
                continue
        try:
            if count < len(parts):
                os.close(make_folders(folder, "/".join(parts[count:]), stat.S_IMODE(os.fstat(top).st_mode)))
        finally:
            os.close(folder)


def place(pod_folder: Path, volume: str, container: str, index: int) -> Path:
    """Return where the sub-path of a container's mount is mounted."""
    return pod_folder / _FOLDER / volume / container / str(index)


def _bind(descriptor: int, target: Path) -> None:
    host_mounts.unmount(target)  # of the container's earlier run
    target.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    trees.remove_path(target)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        target.mkdir(0o750)
    else:  # a file is good for sockets, pipes and devices too
        target.touch(0o640, exist_ok=False)
    host_mounts.mount(f"/proc/self/fd/{descriptor}", target, "", host_mounts.MS_BIND)
