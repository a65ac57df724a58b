"""Addresses for services of type LoadBalancer: of the cluster's bridge, reachable from this machine at once.

A route leads each address to a node, whose kube-proxy knows what to do; the routes go with the bridge. On the host's
own network none is needed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

from pybernetes.api.resource import Object
from pybernetes.client.refs import ENDPOINT_SLICES, NODES, SERVICES, Kindlike
from pybernetes.runtime.controller import Controller, Mapper
from pybernetes.runtime.runtime import Runtime
from pybernetes.tools.local.host_client import HostClient

_FIRST, _LAST = 200, 250  # nodes have the lower numbers
_SERVICE_NAME = "kubernetes.io/service-name"


def pool(node_range: str) -> list[str]:
    """Return the addresses that there are to give."""
    network = ipaddress.ip_network(node_range)
    return [str(network[number]) for number in range(_FIRST, _LAST + 1)]


def wants_address(service: Object | None) -> bool:
    """Return whether a service is to have an address from here."""
    if service is None or service["metadata"].get("deletionTimestamp"):
        return False
    spec = service["spec"]
    return spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass")


def address_of(service: Object) -> str:
    """Return the address that a service has."""
    ingresses = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return ingresses[0].get("ip", "") if ingresses else ""


def choose_address(service: Object, services: Iterable[Object], addresses: list[str]) -> str:
    """Return the address for a service: the one that it has, the one that it asks for, or a free one; empty if none is."""
    own = service["metadata"]["uid"]
    taken = {address_of(other) for other in services if other["metadata"]["uid"] != own}
    preferences = (address_of(service), service["spec"].get("loadBalancerIP") or "")
    free = [address for address in addresses if address not in taken]
    return next((wish for wish in preferences if wish in free), free[0] if free else "")


def entry_node(service: Object, nodes: Mapping[str, str], slices: Iterable[Object]) -> str:
    """Return the address of the node that packets go to: one with an endpoint if only such nodes take them."""
    if service["spec"].get("externalTrafficPolicy") == "Local":
        with_endpoint = {
            endpoint.get("nodeName")
            for endpoint_slice in slices
            for endpoint in endpoint_slice.get("endpoints") or ()
            if (endpoint.get("conditions") or {}).get("ready") is not False
        }
        nodes = {name: address for name, address in nodes.items() if name in with_endpoint}
    return nodes[min(nodes)] if nodes else ""


def ready_nodes(nodes: Iterable[Object]) -> dict[str, str]:
    """Return the addresses of the nodes that are ready."""
    address_by_node = {}
    for node in nodes:
        status = node.get("status") or {}
        ready = any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for condition in status.get("conditions") or ()
        )
        addresses = [
            address["address"] for address in status.get("addresses") or () if address["type"] == "InternalIP"
        ]
        if ready and addresses:
            address_by_node[node["metadata"]["name"]] = addresses[0]
    return address_by_node


class LoadBalancers(Controller):
    """Gives addresses to Services of type LoadBalancer, and keeps the routes to them."""

    name = "load-balancers"
    kind = SERVICES
    workers = 1  # so that no address is given twice

    def __init__(self, runtime: Runtime, node_range: str, host: HostClient | None) -> None:
        super().__init__(runtime)
        self._addresses, self._host = pool(node_range), host  # None where routes are not needed
        self._routes: dict[str, str] | None = None
        self._routed: dict[str, str] = {}  # services and the addresses that their routes are for

    def watches(self) -> Mapping[Kindlike, Mapper]:
        return {NODES: self._all_services, ENDPOINT_SLICES: self._service_of}

    def _all_services(self, node: Object) -> Iterable[str]:
        return list(self._routed)

    @staticmethod
    def _service_of(obj: Object) -> Iterable[str]:
        meta = obj["metadata"]
        name = (meta.get("labels") or {}).get(_SERVICE_NAME)
        return (f"{meta['namespace']}/{name}",) if name else ()

    async def reconcile(self, key: str) -> None:
        """Give a service its address and a route to it, or take both away."""
        service = self.objects.get(key)
        if not wants_address(service):
            before = self._routed.pop(key, "")
            if before:
                await self._route(before, "")
            if service is not None and address_of(service) in self._addresses:
                await self._write_status(service, "")
            return
        assert service is not None
        address = choose_address(service, self.objects.values(), self._addresses)
        if not address:
            raise RuntimeError(f"all {len(self._addresses)} addresses for load balancers are taken")
        if address_of(service) != address:
            await self._write_status(service, address)
        self._routed[key] = address
        slices = [
            endpoint_slice
            for endpoint_slice in self.cache(ENDPOINT_SLICES).values()
            if key in self._service_of(endpoint_slice)
        ]
        await self._route(address, entry_node(service, ready_nodes(self.cache(NODES).values()), slices))

    async def _write_status(self, service: Object, address: str) -> None:
        ingress = [{"ip": address, "ipMode": "VIP"}] if address else None
        meta, status = service["metadata"], {"status": {"loadBalancer": {"ingress": ingress}}}
        await self.client.patch(SERVICES, meta["name"], status, meta["namespace"], subresource="status")

    async def _route(self, address: str, node: str) -> None:
        """Route an address to a node, or nowhere; routes that an earlier run left over are removed first."""
        if self._host is None:
            return  # the node is here, and its kube-proxy sees the packets without a route
        if self._routes is None:
            routes = await self._host.routes()
            used = {address_of(service) for service in self.objects.values() if wants_address(service)}
            for stale in set(routes) - used:
                await self._host.route(stale, "")
                del routes[stale]
            self._routes = routes
        if self._routes.get(address, "") == node:
            return
        await self._host.route(address, node)
        if node:
            self._routes[address] = node
        else:
            del self._routes[address]
