"""``pyb etcd snapshot``: copies of the store, the embedded one as well as etcd."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
from pathlib import Path

from pybernetes.control_plane.store import snapshot
from pybernetes.control_plane.store.protocol import SnapshotStatus, StoreError
from pybernetes.tools.etcd import _connection, _printing

HELP = "save, restore and inspect snapshots of the store"
# What a member of a new cluster made from a snapshot of etcd has to know, as etcdctl names it.
_MEMBER = ("name", "initial_cluster", "initial_advertise_peer_urls", "initial_cluster_token")


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(required=True, metavar="save|restore|status")
    saving = actions.add_parser("save", help="write the store to a new file; it may be in use")
    saving.add_argument("file", type=Path)
    saving.add_argument("--data-dir", type=Path, help="data directory of the embedded store")
    _connection.add_flags(saving, default=None)
    saving.set_defaults(run=save, refuse=saving.error)
    restoring = actions.add_parser("restore", help="make a new data directory from a file")
    restoring.add_argument("file", type=Path)
    restoring.add_argument("--data-dir", type=Path, required=True, help="a directory that does not exist yet")
    for flag, text in zip(
        _MEMBER,
        (
            "for a snapshot of etcd: the member's name",
            "for a snapshot of etcd: all members of the new cluster, as name=url, separated by commas",
            "for a snapshot of etcd: where the other members will reach this one",
            "for a snapshot of etcd: a word that this cluster has and no other",
        ),
        strict=True,
    ):
        restoring.add_argument(f"--{flag.replace('_', '-')}", help=text)
    restoring.set_defaults(run=restore)
    showing = actions.add_parser("status", help="check a file and say what it holds")
    showing.add_argument("file", type=Path)
    showing.add_argument("-w", "--write-out", choices=sorted(FORMATS), default="simple")
    showing.set_defaults(run=status)


def save(arguments: argparse.Namespace) -> str:
    """Write a snapshot of the embedded store or of etcd."""
    path: Path = arguments.file
    if (arguments.data_dir is None) == (arguments.endpoints is None):
        arguments.refuse("one of the arguments --data-dir --endpoints is required")
    if arguments.data_dir is not None:
        snapshot.save_embedded(arguments.data_dir, path)
    else:
        asyncio.run(
            snapshot.save_etcd(
                _connection.addresses(arguments),
                path,
                cafile=arguments.cacert,
                certfile=arguments.cert,
                keyfile=arguments.key,
            )
        )
    return f"Snapshot saved at {path}"


def restore(arguments: argparse.Namespace) -> str:
    """Make a data directory from a snapshot: of the embedded store, or of one member of a new etcd cluster."""
    given = {flag: getattr(arguments, flag) for flag in _MEMBER if getattr(arguments, flag)}
    if snapshot.is_etcd(arguments.file):
        return _restore_member(arguments.file, arguments.data_dir, given)
    if given:
        flags = ", ".join(f"--{flag.replace('_', '-')}" for flag in given)
        raise StoreError(
            f"{arguments.file} is a snapshot of the embedded store, which has no members: {flags}"
        )
    restored = snapshot.restore(arguments.file, arguments.data_dir)
    return f"Restored {restored.total_keys} keys at revision {restored.revision} to {arguments.data_dir}"


def _restore_member(file: Path, data_dir: Path, given: dict[str, str]) -> str:
    """Have etcd's own program write the data directory: its log and the members in it are etcd's affair."""
    status = snapshot.status(file)
    program = shutil.which("etcdutl") or shutil.which("etcdctl")
    if program is None:
        raise StoreError(f"{file} is a snapshot of etcd: etcdutl or etcdctl is needed to restore it")
    flags = [f"--{flag.replace('_', '-')}={value}" for flag, value in given.items()]
    done = subprocess.run(
        [program, "snapshot", "restore", str(file.absolute()), f"--data-dir={data_dir}", *flags],
        env={"ETCDCTL_API": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise StoreError(f"{Path(program).name}: {reason[-1] if reason else done.returncode}")
    return f"Restored {status.total_keys} keys at revision {status.revision} to {data_dir}"


def status(arguments: argparse.Namespace) -> str:
    """Describe a snapshot in the chosen form."""
    return FORMATS[arguments.write_out](snapshot.status(arguments.file))


def as_simple(status: SnapshotStatus) -> str:
    """Return one line with commas."""
    return ", ".join(cells(status))


def as_fields(status: SnapshotStatus) -> str:
    """Return a line for each number."""
    rows = {
        "Hash": status.hash,
        "Revision": status.revision,
        "Keys": status.total_keys,
        "Size": status.total_size,
    }
    return "\n".join(f'"{name}" : {value}' for name, value in rows.items())


def as_json(status: SnapshotStatus) -> str:
    """Return the names that etcdctl uses."""
    return json.dumps(
        {
            "hash": status.hash,
            "revision": status.revision,
            "totalKey": status.total_keys,
            "totalSize": status.total_size,
        },
        separators=(",", ":"),
    )


def as_table(status: SnapshotStatus) -> str:
    """Return a table with lines around it."""
    return _printing.table(["HASH", "REVISION", "TOTAL KEYS", "TOTAL SIZE"], [cells(status)])


FORMATS = {"simple": as_simple, "fields": as_fields, "json": as_json, "table": as_table}


def cells(status: SnapshotStatus) -> list[str]:
    """Return what the table and the simple form show."""
    size = _printing.size(status.total_size)
    return [f"{status.hash:x}", str(status.revision), str(status.total_keys), size]
