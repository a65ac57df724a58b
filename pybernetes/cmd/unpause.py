"""unpause: let a paused local cluster go on."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Let a paused local cluster go on"


def main(argv: list[str]) -> int:
    """Unpause the cluster."""
    from pybernetes.tools.local import lifecycle
    from pybernetes.tools.local.paths import Cluster

    def work(cluster: Cluster) -> None:
        lifecycle.pause(cluster, False)
        print(f"{cluster.name} goes on")

    return on_cluster("unpause", SUMMARY, argv, work)
