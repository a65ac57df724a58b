"""Whose process the control plane of a local cluster is, and which files are that user's.

Started by root it is an ordinary user's, of a number that no account has and that each cluster has for itself. It owns the
store and the certificates and nothing else: what root's processes read, run or write by name is root's.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

import pybernetes
from pybernetes.lib.files import opening, trees
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

# Above the numbers of accounts, containers and user namespaces, below the highest.
_FIRST, _COUNT = 1_900_000_000, 200_000_000
_NEEDED = 1 << 0 | 1 << 6 | 1 << 7  # capabilities: CHOWN, SETGID, SETUID


def user_for(cluster: Cluster) -> int:
    """Return the user of a cluster's control plane; 0, for whoever asks, where nobody can become another user."""
    if os.geteuid() != 0 or _capabilities() & _NEEDED != _NEEDED:
        return 0
    number = _FIRST + int(hashlib.sha256(str(cluster.root).encode()).hexdigest()[:12], 16) % _COUNT
    maps = (Path("/proc/self/uid_map"), Path("/proc/self/gid_map"))
    return number if all(_is_mapped(number, file.read_text()) for file in maps) else 0


def proxy_user(settings: Settings) -> int:
    """Return the user of the gateway's proxy, which faces strangers: not the control plane's; 0 as there."""
    number = settings.user + _COUNT
    text = Path("/proc/self/uid_map").read_text()
    return number if settings.user and _is_mapped(number, text) else 0


def _capabilities() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))


def _is_mapped(number: int, text: str) -> bool:
    """Return whether a number exists in this user namespace."""
    ranges = [tuple(map(int, line.split())) for line in text.splitlines()]
    return any(first <= number < first + count for first, _, count in ranges)


def hand_over(cluster: Cluster, settings: Settings) -> None:
    """Give the control plane's user what it needs, also in a folder that was root's so far."""
    if not settings.user:
        return
    os.chown(cluster.root, -1, settings.user)
    cluster.root.chmod(
        stat.S_ISGID | 0o710
    )  # new files have its group, and are closed to it unless they say otherwise
    os.chown(cluster.settings, -1, settings.user)
    cluster.settings.chmod(0o640)
    for folder in own_folders(cluster, settings):
        folder.mkdir(mode=0o700, exist_ok=True)
        with opening.folder(folder, os.O_RDONLY | os.O_NOFOLLOW) as top:
            os.fchown(top, settings.user, settings.user)
            os.fchmod(top, 0o700)
            for entry in trees.walk(top):
                if entry.status.st_uid != settings.user:
                    _take(entry, settings.user)
    with opening.folder(cluster.root) as root:
        os.fsync(root)  # the control plane may not, and the names of its folders are to outlive a power cut


def own_folders(cluster: Cluster, settings: Settings) -> list[Path]:
    """Return the folders that the control plane writes to."""
    folders = [cluster.data, cluster.certificates]
    return folders if settings.node_range else [*folders, cluster.volumes]


def _take(entry: trees.Entry, user: int) -> None:
    """Change the owner of what is at a name; a second name of a file that lies elsewhere is left alone."""
    descriptor = opening.open_below(entry.folder, entry.name, os.O_PATH | os.O_NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1):
            os.chown(f"/proc/self/fd/{descriptor}", user, user)
    finally:
        os.close(descriptor)


def code() -> list[Path]:
    """Return the folders that our programs are read from."""
    return [Path(folder) for folder in {sys.prefix, sys.base_prefix, *filter(None, sys.path)}]


def named_files(settings: Settings) -> list[Path]:
    """Return the files that arguments of the user's own name."""
    values = [
        argument.partition("=")[2] or argument
        for argument in (*settings.apiserver_arguments, *settings.controller_arguments)
    ]
    return [Path(value) for value in (*values, settings.hollow_usage) if value.startswith("/")]


def is_closed(cluster: Cluster, settings: Settings) -> bool:
    """Return whether the user cannot reach its own files, or what it runs, without a right to go through all folders.

    So it is below root's home.
    """
    library = importlib.util.find_spec("orjson")
    samples = [Path(sys.executable), Path(os.__file__), Path(pybernetes.__file__), *named_files(settings)]
    if library is not None and library.origin:
        samples.append(Path(library.origin))
    return any(_is_closed_to_others(path) for path in (*samples, *_resolved(samples))) or any(
        not _mode(folder) & stat.S_IXOTH for folder in cluster.root.resolve().parents
    )


def _resolved(paths: Iterable[Path]) -> list[Path]:
    return [path.resolve() for path in paths]


def _is_closed_to_others(path: Path) -> bool:
    folders_open = all(_mode(folder) & stat.S_IXOTH for folder in path.absolute().parents)
    return not folders_open or not _mode(path) & stat.S_IROTH


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0o777  # what is not there is no reason for a right
