"""Paths below a folder that others can write to: no link may lead out of it."""

from __future__ import annotations

import os

_MOST_LINKS = 40  # the kernel's limit


def read_below(root: str, path: str, limit: int = 64 * 1024) -> str:
    """Return the text of a file below a folder; raise OSError if it is not there or lies elsewhere."""
    folder = os.path.realpath(root)
    full = os.path.realpath(os.path.join(folder, path))
    if not full.startswith(folder + "/"):
        raise OSError(f"{path} leads out of its volume")
    with open(full, "rb") as file:
        return file.read(limit).decode(errors="replace")


def resolve_inside(root: str, path: str) -> str:
    """Resolve a path as if ``root`` were the root folder: links are followed and never lead out of it."""
    resolved, left, links = "", path.split("/"), 0
    while left:
        part = left.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            resolved = resolved.rpartition("/")[0]
            continue
        here = f"{resolved}/{part}"
        if os.path.islink(root + here):
            links += 1
            if links > _MOST_LINKS:
                raise OSError(f"too many links in {path!r}")
            target = os.readlink(root + here)
            resolved = "" if target.startswith("/") else resolved
            left = target.split("/") + left
        else:
            os.stat(root + here)
            resolved = here
    return root + resolved


def make_sub_path(root: str, path: str, mode: int, group: int | None = None) -> str:
    """Return a folder or file below a volume, created if it is not there; raise OSError if it leads out of it."""
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
