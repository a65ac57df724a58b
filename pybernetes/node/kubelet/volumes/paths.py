"""Paths inside volumes, which their pods can write to: no link in them may lead outside."""

from __future__ import annotations

import os


def read_below(root: str, path: str, limit: int = 64 * 1024) -> str:
    """The text of a file below a folder; OSError if it is not there or lies elsewhere."""
    folder = os.path.realpath(root)
    full = os.path.realpath(os.path.join(folder, path))
    if not full.startswith(folder + "/"):
        raise OSError(f"{path} leads out of its volume")
    with open(full, "rb") as file:
        return file.read(limit).decode(errors="replace")


def sub_path(root: str, path: str, mode: int, group: int | None = None) -> str:
    """A folder or file below a volume, made if it is not there; each step is opened without following links
    out of the volume."""
    if os.path.isabs(path) or ".." in path.split("/"):
        raise OSError(f"the subPath {path!r} must be relative and stay in its volume")
    folder = os.path.realpath(root)
    full = os.path.realpath(os.path.join(folder, path))
    if full != folder and not full.startswith(folder + "/"):
        raise OSError(f"the subPath {path!r} leads out of its volume")
    if not os.path.exists(full):
        position = folder
        for part in os.path.relpath(full, folder).split("/"):
            position = os.path.join(position, part)
            if not os.path.isdir(position):
                os.mkdir(position)
                os.chmod(position, mode & 0o7777)
                if group is not None:
                    os.chown(position, -1, group)
    return full
