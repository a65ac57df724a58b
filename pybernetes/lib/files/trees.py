"""Goes through folders and removes them, whatever others put there and however they change them meanwhile.

Links are not followed and mounts are not crossed. However deep the folders are, few descriptors are open at a time.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterator
from typing import NamedTuple

from pybernetes.lib.files.opening import folder, open_below

_READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK
_MOVED_AT_ONCE = 1000
_MOST_NAMES = 64 << 20  # characters of the names of folders that are still to be gone through


class Entry(NamedTuple):
    """What has a name in a folder: the folder's descriptor, until the next entry; the name; what it is."""

    folder: int
    name: str
    status: os.stat_result


def walk(top: int) -> Iterator[Entry]:
    """Yield everything below a folder, folders before what is in them.

    Raise OSError if a folder was moved meanwhile so that the way back is lost, or if there are too many to remember.
    """
    here = open_below(top, "", _READ_FOLDER)
    way = [(_identity(here), _Names())]
    room = _MOST_NAMES
    try:
        room = yield from _entries(here, way[-1][1], room)
        while True:
            names = way[-1][1]
            if names:
                name = names.pop()
                room += len(name)
                try:
                    below = open_below(here, name, _READ_FOLDER, same_mount=True)
                except OSError:
                    continue  # gone, something else now, or another filesystem
                os.close(here)
                here = below
                way.append((_identity(here), _Names()))
                room = yield from _entries(here, way[-1][1], room)
                continue
            way.pop()
            if not way:
                return
            above = os.open("..", _READ_FOLDER, dir_fd=here)
            os.close(here)
            here = above
            if _identity(here) != way[-1][0]:
                raise OSError(errno.ESTALE, "a folder was moved while it was read")
    finally:
        os.close(here)


_Names = list[str]


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _entries(here: int, folders: _Names, room: int) -> Generator[Entry, None, int]:
    """Yield what is in a folder; add the names of the folders in it to ``folders``.

    There is ``room`` for as many characters; return how much is left.
    """
    with os.scandir(here) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            if stat.S_ISDIR(status.st_mode):
                room -= len(entry.name)
                if room < 0:
                    raise OSError(errno.EOVERFLOW, "there are too many folders to remember")
                folders.append(entry.name)
            yield Entry(here, entry.name, status)
    return room


def remove(parent: int, name: str) -> None:
    """Remove what has a name in a folder, with everything in it.

    What cannot be removed, such as a mount, stays with what is in it, and OSError says so.
    """
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return
    except IsADirectoryError:
        if not _remove_empty(parent, name):
            _empty(open_below(parent, name, _READ_FOLDER, same_mount=True))
            os.rmdir(name, dir_fd=parent)


def remove_path(path: str | os.PathLike[str]) -> None:
    """Remove a file or folder whose parent only we and administrators can change."""
    head, name = os.path.split(os.fspath(path))
    try:
        with folder(head or ".") as parent:
            remove(parent, name)
    except FileNotFoundError:
        pass


def _empty(top: int) -> None:
    """Empty a folder and close it.

    A folder in it that is not empty is moved to the top first, so nothing is ever deeper than that.
    """
    token = secrets.token_hex(8)
    count, failure, stuck, waiting = 0, None, set[str](), [""]
    try:
        while waiting:
            name = waiting[-1]
            moved = 0
            try:
                here = open_below(top, name, _READ_FOLDER, same_mount=True)
            except OSError as error:  # somebody put something else there
                stuck.add(waiting.pop())
                failure = error
                continue
            try:
                with os.scandir(here) as entries:
                    for entry in entries:
                        if name == "" and entry.name in stuck:
                            continue
                        try:
                            if not _remove_one(here, entry):
                                count += 1
                                aside = f"..{token}-{count}"
                                os.rename(entry.name, aside, src_dir_fd=here, dst_dir_fd=top)
                                waiting.append(aside)
                                moved += 1
                        except FileNotFoundError:
                            pass
                        except OSError as error:
                            failure = error
                        if moved == _MOVED_AT_ONCE:
                            break
            finally:
                os.close(here)
            if moved:
                continue
            waiting.pop()
            try:
                if name and not _remove_empty(top, name):
                    stuck.add(name)
            except OSError as error:
                stuck.add(name)
                failure = error
    finally:
        os.close(top)
    if failure is not None:
        raise failure


def _remove_one(here: int, entry: os.DirEntry[str]) -> bool:
    """Remove a file or an empty folder; return False if it is a folder that is not empty."""
    if entry.is_dir(follow_symlinks=False):
        return _remove_empty(here, entry.name)
    os.unlink(entry.name, dir_fd=here)
    return True


def _remove_empty(here: int, name: str) -> bool:
    try:
        os.rmdir(name, dir_fd=here)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True
