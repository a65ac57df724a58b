"""hostPath: a folder, file, socket or device of the node."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume, PathVolume, VolumeRequest

_CHECKS: dict[str, tuple[Callable[[int], bool], str]] = {
    "Directory": (stat.S_ISDIR, "directory"),
    "File": (stat.S_ISREG, "file"),
    "Socket": (stat.S_ISSOCK, "socket file"),
    "CharDevice": (stat.S_ISCHR, "character device"),
    "BlockDevice": (stat.S_ISBLK, "block device"),
}


def check_host_path(path: str, kind: str) -> None:
    """Check that a path is of the given type; create it where the type asks for that."""
    if kind == "DirectoryOrCreate":
        if not os.path.exists(path):
            os.makedirs(path, 0o755)
        kind = "Directory"
    elif kind == "FileOrCreate":
        if not os.path.exists(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        kind = "File"
    if not kind:
        if not os.path.exists(path):  # the runtime would create it as well, but not readable for everybody
            os.makedirs(path, 0o755)
        return
    test, words = _CHECKS[kind]
    try:
        mode = os.stat(path).st_mode
    except OSError:
        raise VolumeError(f"hostPath type check failed: {path} is not a {words}") from None
    if not test(mode):
        raise VolumeError(f"hostPath type check failed: {path} is not a {words}")


async def _mount(request: VolumeRequest) -> MountedVolume:
    path = request.source["path"]
    check_host_path(path, request.source.get("type") or "")
    return MountedVolume(path)


VOLUME = PathVolume("hostPath", _mount, measured=False)
