"""pyb federation up: a federation on one machine."""

from __future__ import annotations

import argparse

from pybernetes.tools.local.federation.clusters import DEFAULT

SUMMARY = "Make a federation on this machine: a host, and clusters that have joined it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add = parser.add_argument
    add(
        "name",
        nargs="?",
        default=DEFAULT,
        help=f"name of the host (default: {DEFAULT}); members are NAME-1, NAME-2, …",
    )
    add("--clusters", type=int, default=2, metavar="N", help="so many members (default: 2)")
    add(
        "--hollow", type=int, nargs="?", const=1, metavar="N",
        help="members have so many nodes that only pretend (default: one with real containers)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Make the federation, and say what can be done with it."""
    from pybernetes.tools.local.federation import lifecycle

    lifecycle.up(arguments.name, arguments.clusters, arguments.hollow, lambda text: print(text, flush=True))
    print(
        f"\nThe federation {arguments.name} is up. What next:\n"
        f"  kubectl --context {arguments.name} -n kube-federation-system get kubefedclusters\n"
        f"  pyb kubefedctl federate namespace default --host-cluster-context {arguments.name}\n"
        f"  pyb federation status --host-cluster-context {arguments.name}\n  pyb federation delete {arguments.name}"
    )
    return 0
