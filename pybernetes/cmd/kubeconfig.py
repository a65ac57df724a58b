"""kubeconfig: how to reach a local cluster, for those who do not want it merged into their own file."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Print the kubeconfig of a local cluster"


def main(argv: list[str]) -> int:
    """Print the file."""
    from pybernetes.tools.local.paths import Cluster

    def show(cluster: Cluster) -> None:
        print(cluster.kubeconfig.read_text(), end="")

    return on_cluster("kubeconfig", SUMMARY, argv, show)
