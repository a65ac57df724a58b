"""ServiceCIDR: keeps a range of service addresses until each of its addresses in use is in another range, too."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.client import STRATEGIC_PATCH
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import IP_ADDRESSES, SERVICE_CIDRS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.lib import rfc3339
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

FINALIZER = "networking.k8s.io/service-cidr-finalizer"
MANAGED_BY, ALLOCATOR = "ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"
_GRACE_SECONDS = 10.0
_READY = {"status": "True", "reason": "", "message": "Kubernetes Service CIDR is ready"}
_BLOCKED = {
    "status": "False",
    "reason": "Terminating",
    "message": "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
}


def networks(service_cidr: Object) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return the ranges of a ServiceCIDR."""
    return [ipaddress.ip_network(cidr, strict=False) for cidr in service_cidr["spec"].get("cidrs") or ()]


def holds(service_cidr: Object, address: str) -> bool:
    """Return whether an address is in one of the ranges."""
    parsed = ipaddress.ip_address(address)
    return any(parsed in network for network in networks(service_cidr) if network.version == parsed.version)


def overlapping(service_cidr: Object, others: Iterable[Object]) -> list[str]:
    """Return the names of the ranges that overlap with one."""
    own = networks(service_cidr)
    return [
        other["metadata"]["name"]
        for other in others
        if any(
            network.version == theirs.version and network.overlaps(theirs)
            for network in own
            for theirs in networks(other)
        )
    ]


def can_go(service_cidr: Object, others: Iterable[Object], addresses: Iterable[str]) -> bool:
    """Return whether every address in use stays within a range when this one goes."""
    name = service_cidr["metadata"]["name"]
    rest = [network for other in others if other["metadata"]["name"] != name for network in networks(other)]

    def is_covered(own: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
        return any(own.version == other.version and own.subnet_of(other) for other in rest)  # type: ignore[arg-type]

    if all(map(is_covered, networks(service_cidr))):
        return True
    for address in addresses:
        parsed = ipaddress.ip_address(address)
        if holds(service_cidr, address) and not any(
            parsed.version == other.version and parsed in other for other in rest
        ):
            return False
    return True


class ServiceCIDRController(Controller):
    """Works on names of ServiceCIDRs."""

    name = "service-cidr-controller"
    kind = SERVICE_CIDRS

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder(self.name)
        self.cache(IP_ADDRESSES).add_handler(self._address_changed)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        # Others may go because this one has come, or may not because it is about to go.
        for name in overlapping(new or old, self.objects):  # type: ignore[arg-type]
            self.enqueue(name)
        return True

    def _address_changed(self, old: Object | None, new: Object | None) -> None:
        """Enqueue the ranges that wait for an address that was given back."""
        if new is None and old is not None:
            name = old["metadata"]["name"]
            for service_cidr in self.objects:
                if is_being_deleted(service_cidr) and holds(service_cidr, name):
                    self.enqueue(service_cidr["metadata"]["name"])

    async def reconcile(self, key: str) -> float | None:
        """Protect a range, write its condition, and let it go when possible."""
        service_cidr = self.objects.get(key)
        if service_cidr is None:
            return None
        try:
            if not is_being_deleted(service_cidr):
                await self._protect(service_cidr)
                await self._say(service_cidr, _READY)
                return None
            addresses = [
                address["metadata"]["name"]
                for address in self.cache(IP_ADDRESSES)
                if (address["metadata"].get("labels") or {}).get(MANAGED_BY) == ALLOCATOR
            ]
            if not can_go(service_cidr, self.objects, addresses):
                await self._say(service_cidr, _BLOCKED)
                return None
            since = rfc3339.parse(service_cidr["metadata"]["deletionTimestamp"])
            left = since + _GRACE_SECONDS - self.clock.now()
            if left > 0:  # until every API server knows that nothing is to be taken from it
                return left
            await self._release(service_cidr)
        except NotFound:
            pass
        return None

    async def _protect(self, service_cidr: Object) -> None:
        meta = service_cidr["metadata"]
        if FINALIZER not in (meta.get("finalizers") or ()):
            patch = {"metadata": {"finalizers": [FINALIZER]}}
            await self.client.patch(SERVICE_CIDRS, meta["name"], patch, type=STRATEGIC_PATCH)

    async def _release(self, service_cidr: Object) -> None:
        meta = service_cidr["metadata"]
        if FINALIZER in (meta.get("finalizers") or ()):
            patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
            await self.client.patch(SERVICE_CIDRS, meta["name"], patch, type=STRATEGIC_PATCH)

    async def _say(self, service_cidr: Object, wanted: dict[str, str]) -> None:
        known = condition_of(service_cidr, "Ready")
        if known is not None and all(known.get(name, "") == text for name, text in wanted.items()):
            return
        ready = {"type": "Ready", "lastTransitionTime": rfc3339.seconds(self.clock.now()), **wanted}
        name = service_cidr["metadata"]["name"]
        await self.client.apply(
            SERVICE_CIDRS, {"metadata": {"name": name}, "status": {"conditions": [ready]}}, manager=self.name,
            force=True, subresource="status",
        )  # fmt: skip


CONTROLLER = Descriptor(
    name=ServiceCIDRController.name,
    identity="service-cidrs-controller",
    build=lambda runtime, options: ServiceCIDRController(runtime),
)
