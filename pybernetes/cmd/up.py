"""up: starts a local cluster."""

from __future__ import annotations

import argparse
import sys

SUMMARY = "Start a local cluster, or bring back one that is stopped"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="pyb up", description=SUMMARY, allow_abbrev=False)
    result.add_argument("name", nargs="?", default="", help="name of the cluster (default: pybernetes)")
    result.add_argument(
        "--nodes", type=int, default=None, metavar="N", help="so many nodes with real containers (needs root)"
    )
    result.add_argument(
        "--hollow", type=int, default=None, metavar="N", help="so many nodes that only pretend"
    )
    return result


def main(argv: list[str]) -> int:
    """Starts the cluster and tells each step with its time."""
    arguments = parser().parse_args(argv)
    from pybernetes.node.containerd.daemon import RuntimeMissing
    from pybernetes.tools.local import lifecycle, places

    def report(text: str, seconds: float) -> None:
        print(f"{seconds:6.2f} s  {text}", flush=True)

    try:
        cluster = places.Cluster(arguments.name or places.DEFAULT)
        settings = lifecycle.up(cluster, arguments.hollow, arguments.nodes, report)
    except (lifecycle.ClusterError, RuntimeMissing, ValueError, OSError) as error:
        print(f"pyb up: {error}", file=sys.stderr)
        return 1
    print(f"\nThe cluster {cluster.name} is up at https://{settings.address}:{settings.port}. What next:")
    print("  kubectl get nodes\n  pyb status\n  pyb delete " + cluster.name)
    return 0
