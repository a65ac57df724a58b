"""``pyb etcd check``: read the whole embedded store and name what is damaged."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.control_plane.store.protocol import StoreError

if TYPE_CHECKING:
    from pybernetes.control_plane.store.drivers.sqlite.repair import Findings

HELP = "read the whole embedded store and name what is damaged"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_directory(parser)
    parser.set_defaults(run=check)


def add_directory(parser: argparse.ArgumentParser) -> None:
    """Add the flag that says where the store is."""
    parser.add_argument("--data-dir", type=Path, required=True, help="data directory of the embedded store")


def check(arguments: argparse.Namespace) -> str:
    """Read the embedded store; damage is an error that names it."""
    from pybernetes.control_plane.store.drivers.sqlite import repair as embedded

    findings = embedded.check(arguments.data_dir)
    if findings.is_good:
        return f"{len(findings.rows)} keys at revision {findings.revision}, no damage found"
    raise StoreError("\n".join([f"{arguments.data_dir} is damaged", *damage(findings)]))


def damage(findings: Findings) -> list[str]:
    """Return a line for each thing that is damaged."""
    return [*findings.problems, *(f"{row.name}: {row.problem}" for row in findings.damaged)]
