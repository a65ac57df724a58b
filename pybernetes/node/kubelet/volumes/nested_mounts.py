"""Mounts inside of mounts: the folders in a volume on which containers mount others.

The runtime would make them, but not where a volume is mounted read-only.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.files import opening
from pybernetes.lib.files.opening import make_folders


def nested_mount_points(pod: Object, name: str) -> list[str]:
    """Return the folders in a volume on which containers mount others; what is below one of them belongs to that."""
    found: set[str] = set()
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in pod["spec"].get(group, ()):
            mounts = container.get("volumeMounts", ())
            places = sorted({_place(mount) for mount in mounts})
            for mount in mounts:
                if mount["name"] == name and not mount.get("subPath") and not mount.get("subPathExpr"):
                    own = f"{_place(mount)}/"
                    found |= _outermost([place[len(own) :] for place in places if place.startswith(own)])
    return sorted(found)


def _place(mount: Object) -> str:
    return posixpath.normpath(mount["mountPath"]).lstrip("/")


def _outermost(paths: list[str]) -> set[str]:
    return {path for path in paths if not any(path.startswith(f"{other}/") for other in paths)}


def make_mount_points(folder: Path, places: list[str], taken: Collection[str] = ()) -> None:
    """Make folders in a volume to mount others on, unless their names are taken by its files."""
    wanted = [place for place in places if place.split("/")[0] not in taken]
    if wanted:
        with opening.folder(folder) as volume:
            for place in wanted:
                os.close(make_folders(volume, place, 0o755))
