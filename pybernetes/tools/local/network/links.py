"""Keeps the ways from this machine's other clusters to the pods of one, as nodes come and go."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig
from pybernetes.client.refs import NODES
from pybernetes.runtime.informer import Informer
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.network import cluster_links, network
from pybernetes.tools.local.paths import Cluster

_AGAIN_SECONDS = 5.0  # after a failure


class Links:
    """The loop of one cluster: what its nodes say, and what others are connected, becomes routes and rules."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Keep the ways until cancelled."""
        async with kubeconfig.load(self._cluster.kubeconfig).client() as client:
            nodes = Informer(client, NODES)
            nodes.add_handler(lambda old, new: self._changed.set())
            following = asyncio.create_task(nodes.run())
            try:
                await nodes.wait_synced()
                self._changed.set()
                while True:
                    await self._changed.wait()
                    self._changed.clear()
                    try:
                        await asyncio.to_thread(apply, self._cluster, nodes.values())
                    except (OSError, ValueError) as error:
                        print(f"local-links: {error}", file=sys.stderr, flush=True)
                        await asyncio.sleep(_AGAIN_SECONDS)
                        self._changed.set()
            finally:
                following.cancel()


def apply(cluster: Cluster, nodes: Iterable[Object]) -> None:
    """Make the ways to a cluster's pods what its settings, its nodes and the clusters that it is connected with say."""
    known = saved_settings.load(cluster)
    others = cluster_links.connected(cluster, known)
    real = {node.name for node in known.nodes}
    own = [node for node in nodes if node["metadata"]["name"] in real]
    if network.bridge_exists(cluster.name):
        cluster_links.lead(cluster.name, cluster_links.routes(known, own) if others else {})
        cluster_links.open_ways(cluster.name, known, others)
