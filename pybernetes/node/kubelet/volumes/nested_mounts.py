"""Mounts inside of mounts: the folders in a volume on which containers mount others.

The runtime would make them, but not where a volume is mounted read-only.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.files import opening
from pybernetes.lib.files.opening import make_folders


def nested_mount_points(pod: Object) -> dict[str, list[str]]:
    """Return, by volume, the folders on which containers mount others; what is below one of them belongs to that."""
    points: dict[str, set[str]] = {}
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in pod["spec"].get(group, ()):
            mounts = container.get("volumeMounts", ())
            volumes = {_place(mount): _whole_volume(mount) for mount in mounts}
            outer: list[str] = []  # the places that the next one may be in, each in the one before
            for place in sorted(volumes, key=lambda place: place.split("/")):
                while outer and not place.startswith(f"{outer[-1]}/"):
                    outer.pop()
                if outer and volumes[outer[-1]]:
                    points.setdefault(volumes[outer[-1]], set()).add(place[len(outer[-1]) + 1 :])
                outer.append(place)
    return {name: sorted(places) for name, places in points.items()}


def _place(mount: Object) -> str:
    return posixpath.normpath(mount["mountPath"]).lstrip("/")


def _whole_volume(mount: Object) -> str:
    """Return the name of the volume that is mounted; empty if only a part of it is."""
    return "" if mount.get("subPath") or mount.get("subPathExpr") else mount["name"]


def make_mount_points(folder: Path, places: Iterable[str], taken: Collection[str] = ()) -> None:
    """Make folders in a volume to mount others on, unless their names are taken by its files."""
    wanted = [place for place in places if place.split("/")[0] not in taken]
    if wanted:
        with opening.folder(folder) as volume:
            for place in wanted:
                os.close(make_folders(volume, place, 0o755))
