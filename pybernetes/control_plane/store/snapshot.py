"""Snapshots of stores that need not be open in this process: save, restore, status.

Two kinds of file exist: ours, a copy of the embedded store's file, and etcd's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pybernetes.control_plane.store.drivers.etcd import bolt_file
from pybernetes.control_plane.store.protocol import SnapshotStatus, StoreError


def save_embedded(data_dir: Path, path: Path) -> SnapshotStatus:
    """Copy the embedded store of a data directory, also while a server runs on it."""
    from pybernetes.control_plane.store.drivers.sqlite import database, snapshot_file

    return snapshot_file.save(data_dir / database.FILE_NAME, path)


async def save_etcd(
    endpoints: Sequence[str],
    path: Path,
    *,
    cafile: str | None = None,
    certfile: str | None = None,
    keyfile: str | None = None,
) -> SnapshotStatus:
    """Let a member of an etcd cluster send its snapshot."""
    from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient
    from pybernetes.control_plane.store.drivers.etcd.snapshot import save

    client = EtcdClient(endpoints, cafile=cafile, certfile=certfile, keyfile=keyfile)
    try:
        return await save(client, path)
    finally:
        await client.close()


def restore(path: Path, data_dir: Path) -> SnapshotStatus:
    """Make a new data directory of the embedded store from a snapshot."""
    from pybernetes.control_plane.store.drivers.sqlite import snapshot_file

    return snapshot_file.restore(path, data_dir)


def status(path: Path) -> SnapshotStatus:
    """Check a snapshot of either kind and sum it up."""
    if is_etcd(path):
        return bolt_file.status(path)
    from pybernetes.control_plane.store.drivers.sqlite import snapshot_file

    return snapshot_file.status(path)


def is_etcd(path: Path) -> bool:
    """Return whether a snapshot was made by etcd."""
    try:
        return bolt_file.is_bolt(path)
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
