"""local-machine: what init is on a machine that kubeadm installs; the cluster's supervisor starts it there."""

from __future__ import annotations

import argparse

from pybernetes.cmd._program import run, stop_event

SUMMARY = "Boot a machine of a local cluster with several control planes"


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="local-machine", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    parser.add_argument("--node", required=True, help="name of the machine")
    arguments = parser.parse_args(argv)
    return run("local-machine", _run(arguments.cluster, arguments.node), RuntimeError)


async def _run(name: str, node_name: str) -> int:
    """Start the kubelet of a machine that kubeadm has been on before; at the end stop it, and its pods."""
    from pybernetes.node.containerd import containerd
    from pybernetes.tools.kubeadm import kubelet_service
    from pybernetes.tools.kubeadm.locations import KUBELET_CONFIG
    from pybernetes.tools.local.nodes import images
    from pybernetes.tools.local.nodes.node import Node
    from pybernetes.tools.local.paths import Cluster

    cluster = Cluster(name)
    node, stop = Node(cluster, node_name), stop_event()
    await containerd.make_ready(node.containerd)
    await images.bring(cluster, node_name)
    if KUBELET_CONFIG.exists() and not kubelet_service.is_running():
        kubelet_service.start()
    await stop.wait()
    kubelet_service.stop()
    await node.stop_pods()
    return 0
