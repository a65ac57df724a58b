"""pyb etcd: snapshots of the store, the embedded one as well as etcd; check and repair of the embedded one."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.control_plane.store import snapshot
from pybernetes.control_plane.store.protocol import SnapshotStatus, StoreError

if TYPE_CHECKING:
    from pybernetes.control_plane.store.drivers.sqlite.repair import Findings

SUMMARY = "save, restore and inspect snapshots of the store; check and repair the embedded one"


def main(argv: list[str]) -> int:
    """Run `snapshot save`, `snapshot restore`, `snapshot status`, `check` or `repair`."""
    arguments = parser().parse_args(argv)
    try:
        output = arguments.run(arguments)
    except StoreError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    print(output)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    program = argparse.ArgumentParser(prog="pyb etcd", description=__doc__)
    commands = program.add_subparsers(required=True, metavar="snapshot|check|repair")
    actions = commands.add_parser("snapshot", help="snapshots of the store").add_subparsers(
        required=True, metavar="save|restore|status"
    )
    saving = actions.add_parser("save", help="write the store to a new file; it may be in use")
    saving.add_argument("file", type=Path)
    source = saving.add_mutually_exclusive_group(required=True)
    source.add_argument("--data-dir", type=Path, help="data directory of the embedded store")
    source.add_argument("--endpoints", help="addresses of etcd, separated by commas")
    saving.add_argument("--cacert", help="file of the CA that signed etcd's certificate")
    saving.add_argument("--cert", help="file of the client certificate for etcd")
    saving.add_argument("--key", help="file of the client certificate's key")
    saving.set_defaults(run=save)
    restoring = actions.add_parser("restore", help="make a new data directory from a file")
    restoring.add_argument("file", type=Path)
    restoring.add_argument("--data-dir", type=Path, required=True, help="a directory that does not exist yet")
    restoring.set_defaults(run=restore)
    showing = actions.add_parser("status", help="check a file and say what it holds")
    showing.add_argument("file", type=Path)
    showing.add_argument("-w", "--write-out", choices=sorted(FORMATS), default="simple")
    showing.set_defaults(run=status)
    checking = commands.add_parser("check", help="read the whole embedded store and name what is damaged")
    checking.set_defaults(run=check)
    repairing = commands.add_parser(
        "repair", help="keep what is good, and put the rest into a folder beside it"
    )
    repairing.set_defaults(run=repair)
    for command in (checking, repairing):
        command.add_argument(
            "--data-dir", type=Path, required=True, help="data directory of the embedded store"
        )
    return program


def save(arguments: argparse.Namespace) -> str:
    """Write a snapshot of the embedded store or of etcd."""
    path: Path = arguments.file
    if arguments.data_dir is not None:
        snapshot.save_embedded(arguments.data_dir, path)
    else:
        endpoints = [endpoint.strip() for endpoint in arguments.endpoints.split(",")]
        secure = bool(arguments.cacert or arguments.cert)
        endpoints = [e if "://" in e else f"{'https' if secure else 'http'}://{e}" for e in endpoints]
        asyncio.run(
            snapshot.save_etcd(
                endpoints, path, cafile=arguments.cacert, certfile=arguments.cert, keyfile=arguments.key
            )
        )
    return f"Snapshot saved at {path}"


def restore(arguments: argparse.Namespace) -> str:
    """Make a data directory from a snapshot."""
    restored = snapshot.restore(arguments.file, arguments.data_dir)
    return f"Restored {restored.total_keys} keys at revision {restored.revision} to {arguments.data_dir}"


def status(arguments: argparse.Namespace) -> str:
    """Describe a snapshot in the chosen form."""
    return FORMATS[arguments.write_out](snapshot.status(arguments.file))


def check(arguments: argparse.Namespace) -> str:
    """Read the embedded store; damage is an error that names it."""
    from pybernetes.control_plane.store.drivers.sqlite import repair as embedded

    findings = embedded.check(arguments.data_dir)
    if findings.is_good:
        return f"{len(findings.rows)} keys at revision {findings.revision}, no damage found"
    raise StoreError("\n".join([f"{arguments.data_dir} is damaged", *_damage(findings)]))


def repair(arguments: argparse.Namespace) -> str:
    """Repair the embedded store, and say what became of what."""
    from pybernetes.control_plane.store.drivers.sqlite import repair as embedded

    findings, kept = embedded.repair(arguments.data_dir)
    good = f"{len(findings.rows)} keys at revision {findings.revision}"
    if kept is None:
        return f"{good}, no damage found"
    lost = f"{len(findings.damaged)} damaged records, and the file as it was, are in {kept}"
    return "\n".join([*_damage(findings), f"Kept {good}; {lost}"])


def _damage(findings: Findings) -> list[str]:
    return [*findings.problems, *(f"{row.name}: {row.problem}" for row in findings.damaged)]


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
    header = ["HASH", "REVISION", "TOTAL KEYS", "TOTAL SIZE"]
    values = cells(status)
    widths = [max(len(name), len(value)) for name, value in zip(header, values, strict=True)]
    line = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    titles = "|" + "|".join(f" {name:^{width}} " for name, width in zip(header, widths, strict=True)) + "|"
    row = "|" + "|".join(f" {value:>{width}} " for value, width in zip(values, widths, strict=True)) + "|"
    return "\n".join([line, titles, line, row, line])


FORMATS = {"simple": as_simple, "fields": as_fields, "json": as_json, "table": as_table}


def cells(status: SnapshotStatus) -> list[str]:
    """Return what the table and the simple form show."""
    return [f"{status.hash:x}", str(status.revision), str(status.total_keys), size(status.total_size)]


def size(number: int) -> str:
    """Return a number of bytes for people, in powers of 1000: 2.1 MB, 48 MB."""
    if number < 10:
        return f"{number} B"
    units = ["B", "kB", "MB", "GB", "TB"]
    value = float(number)
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    rounded = int(value * 10 + 0.5) / 10
    return f"{rounded:.1f} {units[0]}" if rounded < 10 else f"{rounded:.0f} {units[0]}"
