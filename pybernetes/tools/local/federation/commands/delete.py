"""pyb federation delete: removes a federation of local clusters."""

from __future__ import annotations

import argparse

from pybernetes.tools.local.federation.clusters import DEFAULT

SUMMARY = "Delete the host and the members of a federation on this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("name", nargs="?", default=DEFAULT, help=f"name of the host (default: {DEFAULT})")


def run(arguments: argparse.Namespace) -> int:
    """Delete all of it."""
    from pybernetes.tools.local.federation import lifecycle

    lifecycle.delete(arguments.name, lambda text: print(text, flush=True))
    return 0
