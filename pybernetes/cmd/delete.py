"""delete: removes a local cluster and all that it made."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Remove a local cluster and everything that it made"


def main(argv: list[str]) -> int:
    """Delete the cluster."""
    from pybernetes.tools.local import lifecycle
    from pybernetes.tools.local.paths import Cluster

    def remove(cluster: Cluster) -> None:
        lifecycle.delete(cluster)
        print(f"{cluster.name} is deleted")

    return on_cluster("delete", SUMMARY, argv, remove)
