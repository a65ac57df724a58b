"""pyb federation connect: connects local clusters of a federation, so that they share services."""

from __future__ import annotations

import argparse

SUMMARY = "Connect clusters of this machine: their pods reach one another, and they share services"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("clusters", nargs="+", metavar="CLUSTER", help="members of one federation")
    parser.add_argument(
        "--host",
        default="",
        metavar="CLUSTER",
        help="the host of their federation (default: the one that has them)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Connect them."""
    from pybernetes.tools.local.federation import connecting

    connecting.connect(arguments.clusters, arguments.host, lambda text: print(text, flush=True))
    return 0
