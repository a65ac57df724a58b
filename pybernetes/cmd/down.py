"""down: stops a local cluster and keeps its state."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Stop a local cluster; pyb up brings it back as it was"


def main(argv: list[str]) -> int:
    """Stop the cluster."""
    from pybernetes.tools.local import lifecycle
    from pybernetes.tools.local.paths import Cluster

    def stop(cluster: Cluster) -> None:
        print(f"{cluster.name} is stopped" if lifecycle.down(cluster) else f"{cluster.name} was not running")

    return on_cluster("down", SUMMARY, argv, stop)
