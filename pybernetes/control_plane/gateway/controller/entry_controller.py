"""What Ingresses and Gateways have in common: an address, a place in the proxy, and endpoints that follow services."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import ENDPOINT_SLICES, SECRETS, SERVICES, Kindlike, Ref
from pybernetes.control_plane.gateway.certificates import TLS_TYPE
from pybernetes.control_plane.gateway.controller import addresses
from pybernetes.control_plane.gateway.controller.published import Published
from pybernetes.control_plane.gateway.envoy.resources import resources
from pybernetes.control_plane.gateway.kinds import NAMESPACE
from pybernetes.control_plane.gateway.model import Entry
from pybernetes.lib import rfc3339
from pybernetes.lib.event_loop import off_loop
from pybernetes.runtime.controller import Controller, Mapper
from pybernetes.runtime.runtime import Runtime

FIELD_MANAGER = "pybernetes-gateway"
_ROUTE_BYTES = 80  # that a route is worth, to tell whether much is to be done


class EntryController(Controller):
    """A controller that keeps entries in the proxy. ``address`` is where the proxy listens, in ``ports``."""

    selects: ClassVar[Mapping[Kindlike, Mapping[str, str]]] = {SECRETS: {"fields": f"type={TLS_TYPE}"}}

    def __init__(self, runtime: Runtime, published: Published, address: str, ports: range) -> None:
        self.published, self.address, self.ports = published, address, ports
        super().__init__(runtime)

    def watches(self) -> Mapping[Kindlike, Mapper]:
        """Return the Service that carries an entry's address, and its endpoints, besides what subclasses watch."""
        return {SERVICES: self._of_service}

    def _of_service(self, service: Object) -> Iterable[str]:
        meta = service["metadata"]
        if meta["namespace"] == NAMESPACE:
            entry = (meta.get("annotations") or {}).get(addresses.ENTRY)
            return [entry] if entry and self.is_mine(entry) else []
        return self.users_of(f"{meta['namespace']}/{meta['name']}")

    def is_mine(self, entry: str) -> bool:
        """Return whether an entry is this controller's."""
        raise NotImplementedError

    def users_of(self, service: str) -> Iterable[str]:
        """Return the entries that send something to a Service."""
        raise NotImplementedError

    @property
    def now(self) -> str:
        """The time, as conditions have it."""
        return rfc3339.seconds(self.clock.now())

    async def serve(self, entry: Entry, infrastructure: Object | None = None) -> tuple[list[Object], str]:
        """Give an entry its address and its place in the proxy; return its addresses and what the proxy has against it."""
        if not entry.ports:
            await self.forget(entry.name)
            return [], ""
        try:
            bound = await self._bind(entry, infrastructure)
        except addresses.NoPort as error:
            return [], str(error)
        routes = sum(
            len(hosts)
            for port in entry.ports
            for chain in port.chains
            for hosts in (chain.hosts or {}).values()
        )
        made = await off_loop.run(routes * _ROUTE_BYTES, resources, entry, self.address, bound)
        problem = await self.published.set(entry.name, made, entry.clusters)
        return addresses.addresses(self._known(entry.name)), problem

    async def forget(self, name: str) -> None:
        """Take an entry out of the proxy, and give its address back."""
        await self.published.remove(name)
        self.published.bound.pop(name, None)
        if self._known(name) is not None:
            try:
                await self.client.delete(SERVICES, addresses.service_name(name), NAMESPACE)
            except NotFound:
                pass
            try:
                await self.client.delete(ENDPOINT_SLICES, f"{addresses.service_name(name)}-proxy", NAMESPACE)
            except NotFound:
                pass

    def _known(self, entry: str) -> Object | None:
        return self.cache(SERVICES).get(f"{NAMESPACE}/{addresses.service_name(entry)}")

    async def _bind(self, entry: Entry, infrastructure: Object | None) -> dict[int, int]:
        known = self._known(entry.name)
        bound = self._choose([port.number for port in entry.ports], entry.name, known)
        service = addresses.service(entry.name, bound, infrastructure)
        slice_ = addresses.endpoint_slice(entry.name, bound, self.address)
        if known is None or _differs(known, service):
            await self.client.apply(SERVICES, service, manager=FIELD_MANAGER, force=True)
        key = f"{NAMESPACE}/{slice_['metadata']['name']}"
        current = self.cache(ENDPOINT_SLICES).get(key)
        if current is None or any(current.get(field) != slice_[field] for field in ("endpoints", "ports")):
            await self.client.apply(ENDPOINT_SLICES, slice_, manager=FIELD_MANAGER, force=True)
        return bound

    def _choose(self, wanted: list[int], entry: str, known: Object | None) -> dict[int, int]:
        """Choose ports of the proxy for an entry, all at once: services that were just made are not in the cache yet."""
        chosen = self.published.bound
        remembered = {
            service["metadata"]["name"]: addresses.bound_ports(service)
            for service in self.cache(SERVICES).in_namespace(NAMESPACE)
        }
        remembered |= {addresses.service_name(name): ports for name, ports in chosen.items()}
        remembered.pop(addresses.service_name(entry), None)
        taken = [bound for ports in remembered.values() for bound in ports.values()]
        own = chosen.get(entry) or addresses.bound_ports(known)
        chosen[entry] = addresses.choose_ports(wanted, own, taken, self.ports)
        return chosen[entry]

    async def write_status(self, kind: Ref, obj: Object, status: Object) -> None:
        """Write a status if it is another than the object has."""
        if status != (obj.get("status") or {}):
            await self.client.update_status(kind, {**obj, "status": status}, manager=FIELD_MANAGER)


def _differs(known: Object, wanted: Object) -> bool:
    if addresses.bound_ports(known) != addresses.bound_ports(wanted):
        return True
    return any(
        (known["metadata"].get(field) or {}).get(name) != value
        for field in ("labels", "annotations")
        for name, value in wanted["metadata"][field].items()
    )
