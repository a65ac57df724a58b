"""Which cluster has a name on this machine.

Links, namespaces, control groups and sockets of real nodes have names that every user of the machine sees, so a name
belongs to one cluster at a time: to the folder that is written down beside its sockets.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pybernetes.tools.local.paths import Cluster, ClusterError


class NameTaken(ClusterError):
    """Another cluster has the name; the text says which, and what to do."""


def may_have(cluster: Cluster) -> bool:
    """Return whether the name is the cluster's, or nobody's."""
    return cluster.owner in ("", str(cluster.root))


def acquire(cluster: Cluster) -> None:
    """Take the name for a cluster; NameTaken if another one has it."""
    with alone(cluster):
        if not may_have(cluster):
            home = Path(cluster.owner).parent.parent
            raise NameTaken(
                f"the cluster in {cluster.owner} has the name {cluster.name!r} on this machine: choose another name, "
                f"or remove that cluster with PYBERNETES_HOME={home} pyb delete {cluster.name}"
            )
        cluster.run.mkdir(parents=True, exist_ok=True, mode=0o711)
        cluster.owner_file.write_text(str(cluster.root))


def release(cluster: Cluster) -> None:
    """Give the name back, if the cluster has it."""
    if cluster.owner == str(cluster.root):
        with alone(cluster), contextlib.suppress(OSError):
            cluster.owner_file.unlink()
            cluster.run.rmdir()
            cluster.run.parent.rmdir()  # stays as long as another cluster has something there


@contextlib.contextmanager
def alone(cluster: Cluster) -> Iterator[None]:
    """Exclude commands on this machine that look who has a name, whatever the cluster."""
    folder = cluster.run.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o755)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
