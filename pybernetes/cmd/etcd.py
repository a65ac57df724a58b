"""pyb etcd: members, health and snapshots of etcd; snapshots, check and repair of the embedded store."""

from __future__ import annotations

import argparse
import sys

from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.lib import discover

SUMMARY = "members, health and snapshots of etcd; snapshots, check and repair of the embedded store"
COMMANDS = "pybernetes.tools.etcd"


def main(argv: list[str]) -> int:
    """Run the command that is named, from the file of its name."""
    arguments = parser().parse_args(argv)
    try:
        output = arguments.run(arguments)
    except StoreError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    if output:
        print(output)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    program = argparse.ArgumentParser(prog="pyb etcd", description=__doc__)
    names = discover.names(COMMANDS)
    commands = program.add_subparsers(required=True, metavar="|".join(names))
    for name in names:
        command = discover.load(COMMANDS, name)
        command.add_to(commands.add_parser(name, help=command.HELP))
    return program
