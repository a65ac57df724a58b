"""Connecting local clusters that belong to a federation: ways between their pods, and services that they share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pybernetes.client import kubeconfig
from pybernetes.client.errors import NotFound
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS, NAMESPACE
from pybernetes.tools.federation import sharing
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.local import cluster_links, network, paths, settings
from pybernetes.tools.local.admin_client import AdminClient
from pybernetes.tools.local.paths import Cluster, ClusterError


def connect(names: Sequence[str], host: str, say: Callable[[str], None]) -> None:
    """Connect clusters; ClusterError says why that cannot be, and nothing has changed then."""
    if len(set(names)) < 2:
        raise ClusterError("at least two clusters can be connected")
    clusters = [Cluster(name) for name in dict.fromkeys(names)]
    for cluster in clusters:
        if not cluster.exists:
            raise paths.NoSuchCluster(f"there is no cluster {cluster.name!r}")
    known = {cluster.name: settings.load(cluster) for cluster in clusters}
    problem = cluster_links.overlap(known)
    if problem:
        raise ClusterError(f"{problem}; make one of them with --pod-cidr or --service-cidr")
    chosen = host or host_of([cluster.name for cluster in clusters])
    asyncio.run(_check_members(chosen, list(known)))
    linked = {}
    for cluster in clusters:
        real = {node.name for node in known[cluster.name].nodes}
        if real and network.bridge_exists(cluster.name):
            nodes = AdminClient(cluster).call("GET", "/api/v1/nodes")["items"]
            own = [node for node in nodes if node["metadata"]["name"] in real]
            linked[cluster.name] = (known[cluster.name], own)
        else:
            say(f"{cluster.name} has no real nodes of its own: nothing is reached there")
    cluster_links.connect(linked)
    asyncio.run(_share(chosen, list(known)))
    say(f"{', '.join(known)} are connected and share services: <service>.<namespace>.svc.clusterset.local")


def host_of(names: Sequence[str]) -> str:
    """Return the local cluster that is the host of a federation with these members."""
    for cluster in paths.clusters():
        if cluster.settings.exists() and settings.load(cluster).federation:
            try:
                if set(names) <= asyncio.run(_members(cluster)):
                    return cluster.name
            except OSError:  # it does not run
                continue
    raise ClusterError(
        f"no federation of this machine has {', '.join(names)} as members: `pyb federation up` makes one, --host names another"
    )


async def _members(host: Cluster) -> set[str]:
    async with kubeconfig.load(host.kubeconfig).client() as client:
        try:
            page = await client.list(KUBEFED_CLUSTERS, NAMESPACE)
        except NotFound:
            return set()
    return {row["metadata"]["name"] for row in page.items}


async def _check_members(host: str, names: Sequence[str]) -> None:
    missing = sorted(set(names) - await _members(Cluster(host)))
    if missing:
        raise ClusterError(
            f"{', '.join(missing)} has not joined the federation of {host}: pyb kubefedctl join"
        )


async def _share(host: str, names: Sequence[str]) -> None:
    for name in names:
        async with kubeconfig.load(Cluster(name).kubeconfig).client() as member:
            await sharing.share(member, Joining(name, host, NAMESPACE))
            await sharing.answer_names(member)
