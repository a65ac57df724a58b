"""status: how a local cluster is."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Show how a local cluster is"


def main(argv: list[str]) -> int:
    """Print what runs and whether it is well; 1 if the cluster does not run."""
    from pybernetes.tools.local import lifecycle, settings
    from pybernetes.tools.local.admin_client import AdminClient
    from pybernetes.tools.local.paths import Cluster

    def show(cluster: Cluster) -> int:
        kept = settings.load(cluster)
        programs = lifecycle.running_programs(cluster)
        api = AdminClient(cluster) if cluster.kubeconfig.exists() else None
        ready = bool(programs) and not kept.paused and api is not None and api.is_ready()
        state = "paused" if kept.paused else "ready" if ready else "running" if programs else "stopped"
        print(
            f"cluster        {cluster.name}\ncontrol plane  {state}\naddress        {lifecycle.server_of(kept)}"
        )
        well = api.ready_nodes() if api is not None and ready else set()
        for node in kept.nodes:
            how = "stopped" if node.stopped or not programs else "ready" if node.name in well else "not ready"
            print(f"node           {node.name} ({how})")
        if kept.hollow:
            print(
                f"hollow nodes   {kept.hollow} ({len([name for name in well if name.startswith('hollow-')])} ready)"
            )
        for name, program in programs.items():
            restarts = f", started again {program['restarts']} times" if program["restarts"] else ""
            print(
                f"program        {name} ({'process ' + str(program['pid']) if program['pid'] else 'ended'}{restarts})"
            )
        print(f"files          {cluster.root}")
        return 0 if programs else 3

    return on_cluster("status", SUMMARY, argv, show)
