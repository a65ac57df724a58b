"""logs: what a local cluster's programs wrote."""

from __future__ import annotations

import sys

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Print what the control plane of a local cluster wrote"


def main(argv: list[str]) -> int:
    """Prints the log."""
    from pybernetes.tools.local import lifecycle

    def show(cluster: lifecycle.Cluster) -> None:
        log = cluster.log(lifecycle.CONTROL_PLANE)
        if log.exists():
            sys.stdout.write(log.read_text(errors="replace"))

    return on_cluster("logs", SUMMARY, argv, show)
