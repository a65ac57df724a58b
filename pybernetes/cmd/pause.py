"""pause: stop the programs of a local cluster where they are, so that they use no processor; containers go on."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = (
    "Stop the programs of a local cluster where they are, so that they use no processor; containers go on"
)


def main(argv: list[str]) -> int:
    """Pause the cluster."""
    from pybernetes.tools.local import lifecycle
    from pybernetes.tools.local.paths import Cluster

    def work(cluster: Cluster) -> None:
        lifecycle.pause(cluster, True)
        print(f"{cluster.name} is paused; pyb unpause lets it go on")

    return on_cluster("pause", SUMMARY, argv, work)
