"""Connecting local clusters that belong to a federation: ways between their pods, and services that they share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pybernetes.client import kubeconfig
from pybernetes.client.errors import NotFound
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS, NAMESPACE
from pybernetes.tools.federation import sharing
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.local import lifecycle, paths, settings
from pybernetes.tools.local.admin_client import AdminClient
from pybernetes.tools.local.network import cluster_links, links
from pybernetes.tools.local.paths import Cluster, ClusterError

_PATIENCE_SECONDS = 60.0  # with another command that is at work on a cluster


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
    for cluster in clusters:
        if not known[cluster.name].has_real_nodes:
            say(f"{cluster.name} has no real nodes: nothing is reached there")
    for cluster in clusters:  # both have to say so before either does anything
        _note(cluster, [name for name in known if name != cluster.name])
    for cluster in clusters:
        lifecycle.refresh(cluster, settings.load(cluster))  # from now on its own process keeps the ways
        if known[cluster.name].has_real_nodes:
            links.apply(cluster, AdminClient(cluster).call("GET", "/api/v1/nodes")["items"])
    asyncio.run(_share(chosen, list(known)))
    say(f"{', '.join(known)} are connected and share services: <service>.<namespace>.svc.clusterset.local")


def _note(cluster: Cluster, others: Sequence[str]) -> None:
    """Note what a cluster is connected with."""
    with lifecycle.locked(cluster, _PATIENCE_SECONDS):
        known = settings.load(cluster)
        known.connected = sorted({*known.connected, *others})
        settings.save(cluster, known)


def host_of(names: Sequence[str]) -> str:
    """Return the local cluster that is the host of a federation with these members."""
    for cluster in paths.clusters():
        try:
            if settings.load(cluster).federation and set(names) <= asyncio.run(_members(cluster)):
                return cluster.name
        except (OSError, settings.SettingsError):  # it does not run, or another version made it
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
