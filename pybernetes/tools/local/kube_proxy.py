"""kube-proxy of a local cluster's node, in the same process as its kubelet."""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig
from pybernetes.node.proxy import config, proxy_server
from pybernetes.tools.local.node import Node
from pybernetes.tools.local.settings import Settings

IDENTITY = "kube-proxy"


def configuration(settings: Settings) -> Object:
    """Return the KubeProxyConfiguration of every node; small clusters can do with less waiting than upstream's."""
    periods = {"minSyncPeriod": "100ms"}
    return config.completed(
        {
            "mode": settings.proxy_mode,
            "clusterCIDR": settings.pod_range,
            # Load balancers ask by every family whether a node is well.
            **({"healthzBindAddress": f"[::]:{config.HEALTHZ_PORT}"} if settings.node_range_v6 else {}),
            "iptables": periods,
            "nftables": periods,
        }
    )


async def run(node: Node, settings: Settings, stop: asyncio.Event) -> None:
    """Run until the node stops. On the host's own network no rule is left behind."""
    client = kubeconfig.load(node.identity(IDENTITY)).client(user_agent="kube-proxy")
    work = asyncio.ensure_future(
        proxy_server.run(client, configuration(settings), node.name, service_ranges=settings.service_ranges)
    )
    waiting = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((work, waiting), return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        for task in (work, waiting):
            task.cancel()
        await asyncio.gather(work, waiting, return_exceptions=True)
        await client.close()
        if settings.host_network and stop.is_set():
            await proxy_server.cleanup()
