"""The cloud of a local cluster: the local provider, wired to this machine by the host helper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pybernetes.control_plane.cloud.local.local_cloud import LocalCloud
from pybernetes.control_plane.cloud.local.machine import Balancer, LocalInstance, MachineRoute
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.host_client import HostClient
from pybernetes.tools.local.network import balancer_rules
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

USER = "system:cloud-controller-manager"


class HostMachine:
    """This machine, as the host helper shows it. On the host's own network kube-proxy alone takes the packets."""

    def __init__(
        self, cluster: str, node_ranges: Sequence[str], host: HostClient, *, apart: bool = True
    ) -> None:
        self.cluster, self._host, self._apart = cluster, host, apart
        self.pool = tuple(address for text in node_ranges for address in balancer_rules.pool(text))
        self._here: dict[str, Balancer] = {}

    async def instance(self, name: str) -> LocalInstance | None:
        """Return a node of the cluster."""
        known = await self._host.instance(name)
        if known is None:
            return None
        return LocalInstance(**{**known, "addresses": tuple(known.get("addresses") or ())})

    async def balancers(self) -> Mapping[str, Balancer]:
        """Return the load balancers that this machine has."""
        return await self._host.balancers() if self._apart else self._here

    async def balance(self, balancer: Balancer) -> None:
        """Make or change a load balancer."""
        if self._apart:
            await self._host.balance(asdict(balancer))
        else:
            self._here = {**self._here, balancer.address: balancer}

    async def unbalance(self, address: str) -> None:
        """Remove a load balancer."""
        if self._apart:
            await self._host.unbalance(address)
        else:
            self._here = {key: entry for key, entry in self._here.items() if key != address}

    async def routes(self) -> Sequence[MachineRoute]:
        """Return the routes between nodes."""
        return await self._host.routes()

    async def route(self, destination: str, node: str) -> None:
        """Make a route."""
        await self._host.route(destination, node)

    async def unroute(self, destination: str, gateway: str) -> None:
        """Remove a route."""
        await self._host.unroute(destination, gateway)


def provider(cluster: Cluster, settings: Settings, host: HostClient) -> LocalCloud:
    """Return the cloud of a cluster; it has routes if the cluster's settings leave the pod network to it."""
    machine = HostMachine(cluster.name, settings.node_ranges, host, apart=not settings.host_network)
    return LocalCloud(machine, routed=settings.cloud_routes)


def make(text: str) -> LocalCloud:
    """Make the provider of a configuration, which names the cluster: ``cluster: NAME``."""
    import yaml

    config = yaml.safe_load(text) if text else None
    if not isinstance(config, dict) or set(config) != {"cluster"}:
        raise ValueError("the configuration of the local cloud is one line: cluster: NAME")
    cluster = Cluster(config["cluster"])
    settings = saved_settings.load(cluster)
    if not settings.node_range:
        raise ValueError(f"the cluster {cluster.name} has no nodes with real containers")
    return provider(cluster, settings, HostClient(cluster.host_socket))
