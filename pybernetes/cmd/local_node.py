"""local-node: the agents of one node of a local cluster; the cluster's supervisor starts it in the node's namespace."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from collections.abc import Awaitable, Callable

from pybernetes.cmd._program import run, stop_event

SUMMARY = "Run the agents of a node of a local cluster"
_RESTART_SECONDS = 1.0
log = logging.getLogger(__name__)


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="local-node", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    parser.add_argument("--node", required=True, help="name of the node")
    arguments = parser.parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(0)
    # Programs are started often here; gRPC need not handle each fork, since an exec follows.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    return run("local-node", _run(arguments.cluster, arguments.node), RuntimeError)


async def _run(name: str, node_name: str) -> int:
    from pybernetes.cmd import kubelet
    from pybernetes.node.containerd import containerd
    from pybernetes.node.dns.usual import NODE_LOCAL_ADDRESS
    from pybernetes.node.kubelet import flags
    from pybernetes.tools.local import settings as saved_settings
    from pybernetes.tools.local.network import network
    from pybernetes.tools.local.nodes import images
    from pybernetes.tools.local.nodes import node_registration as registration
    from pybernetes.tools.local.nodes.node import Node
    from pybernetes.tools.local.paths import Cluster

    cluster = Cluster(name)
    settings = saved_settings.load(cluster)
    node = Node(cluster, node_name)
    stop = stop_event()
    addresses = network.node_addresses(settings, node_name)
    names = network.cluster_dns(settings)
    options = node.kubelet_arguments(addresses, NODE_LOCAL_ADDRESS if settings.node_local_dns else names)
    options += registration.kubelet_arguments(cluster, settings, settings.node(node_name))
    options.append("--cni-bridge=")  # the pod network writes the configuration
    arguments = flags.parser().parse_args([*options, *settings.kubelet_arguments])
    await containerd.make_ready(node.containerd)
    # Before the kubelet: a pod would not wait for them.
    await images.bring(cluster, node_name)
    joined = asyncio.Event()  # to the pod network
    tasks = [
        asyncio.create_task(
            _keep("kubelet", stop, lambda: kubelet.serve(arguments, stop, plain_log=node.plain_log))
        )
    ]
    if settings.proxy_mode != "none":
        from pybernetes.tools.local.nodes import kube_proxy

        tasks.append(
            asyncio.create_task(
                _keep("kube-proxy", stop, lambda: kube_proxy.run(node, settings, stop, joined))
            )
        )
    background = [
        asyncio.create_task(_keep("pod network", stop, lambda: node.run_pod_network(settings, joined)))
    ]
    if settings.node_local_dns:
        from pybernetes.tools.local.addons import node_local_dns

        background.append(
            asyncio.create_task(
                _keep("node-local-dns", stop, lambda: node_local_dns.run("cluster.local", names))
            )
        )
    await stop.wait()
    for task in background:
        task.cancel()
    await asyncio.gather(*tasks, *background, return_exceptions=True)
    await node.stop_pods()
    return 0


async def _keep(name: str, stop: asyncio.Event, agent: Callable[[], Awaitable[None]]) -> None:
    """Run an agent until the node stops; one that fails is restarted."""
    while not stop.is_set():
        try:
            await agent()
        except Exception:
            log.exception("%s ended and is started again", name)
            await asyncio.sleep(_RESTART_SECONDS)
