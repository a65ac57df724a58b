"""status: how a local cluster is."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Show how a local cluster is"


def main(argv: list[str]) -> int:
    """Prints what runs and whether it is well."""
    import json

    from pybernetes.tools.local import daemons, lifecycle

    def show(cluster: lifecycle.Cluster) -> None:
        settings = lifecycle.Settings(**json.loads(cluster.settings.read_text()))
        pid = daemons.running(cluster.pid(lifecycle.CONTROL_PLANE))
        ready = bool(pid) and lifecycle.is_ready(cluster, settings)
        print(f"cluster        {cluster.name}")
        print(
            f"control plane  {'ready' if ready else 'running' if pid else 'stopped'}{f' (process {pid})' if pid else ''}"
        )
        print(f"address        https://{settings.address}:{settings.port}")
        print(f"hollow nodes   {settings.hollow}")
        print(f"files          {cluster.root}")

    return on_cluster("status", SUMMARY, argv, show)
