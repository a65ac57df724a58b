"""status: how a local cluster is."""

from __future__ import annotations

from pybernetes.cmd._cluster import on_cluster

SUMMARY = "Show how a local cluster is"


def main(argv: list[str]) -> int:
    """Print what runs and whether it is well; the exit code is 3 if the cluster does not run."""
    from pybernetes.tools.local import lifecycle, settings
    from pybernetes.tools.local.admin_client import AdminClient
    from pybernetes.tools.local.control_planes import membership
    from pybernetes.tools.local.network import server_address
    from pybernetes.tools.local.paths import Cluster

    def show(cluster: Cluster) -> int:
        saved = settings.load(cluster)
        processes = lifecycle.running_processes(cluster)
        api = AdminClient(cluster) if cluster.kubeconfig.exists() else None
        ready = bool(processes) and not saved.paused and api is not None and api.is_ready()
        state = "paused" if saved.paused else "ready" if ready else "running" if processes else "stopped"
        print(
            f"cluster        {cluster.name}\ncontrol plane  {state}\naddress        {server_address.server_of(saved)}"
        )
        ready_nodes = api.ready_nodes() if api is not None and ready else set()
        members = membership.member_states(cluster, saved) if processes and not saved.paused else {}
        for node in saved.nodes:
            is_node = node.role != settings.ETCD  # else a machine with nothing but a member of etcd
            node_state = (
                "stopped"
                if node.stopped or not processes
                else "paused"
                if node.paused
                else "ready"
                if node.name in ready_nodes
                else "not ready"
                if is_node
                else "running"
            )
            apart = f", cut off from {', '.join(node.apart)}" if node.apart else ""
            slow = f", disk limited to {node.disk_operations}/s" if node.disk_operations else ""
            print(f"{'node' if is_node else 'machine':<14} {node.name} ({node_state}{apart}{slow})")
        for name, told in members.items():
            print(f"etcd           {name} ({told})")
        if saved.hollow:
            print(
                f"hollow nodes   {saved.hollow} ({len([name for name in ready_nodes if name.startswith('hollow-')])} ready)"
            )
        for name, process in processes.items():
            restarts = f", started again {process['restarts']} times" if process["restarts"] else ""
            print(
                f"program        {name} ({'process ' + str(process['pid']) if process['pid'] else 'ended'}{restarts})"
            )
        print(f"files          {cluster.root}")
        return 0 if processes else 3

    return on_cluster("status", SUMMARY, argv, show)
