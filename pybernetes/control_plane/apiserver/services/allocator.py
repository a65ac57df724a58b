"""Gives services their addresses and node ports."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from typing import Any

from pybernetes.api import errors
from pybernetes.api.core.service.cluster_ips import NONE
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.services import families
from pybernetes.control_plane.apiserver.services.address_pool import AddressError, AddressPool, RangeFull
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.apiserver.services.port_plan import PortPlan, all_ports
from pybernetes.control_plane.apiserver.services.port_pool import PortPool
from pybernetes.control_plane.apiserver.services.repair import Repair
from pybernetes.control_plane.store.protocol import Store

Fields = dict[str, Any]
_IPS = Path("spec") / "clusterIPs"


def _timestamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Allocation:
    """What one write took and will give back: ``commit`` after the write, ``undo`` if it failed."""

    def __init__(self, allocator: ServiceAllocator, service: Object) -> None:
        meta = service["metadata"]
        self.owner = (meta.get("namespace", ""), meta.get("name", ""))
        self.ips: list[str] = []
        self.ports: set[int] = set()
        self.freed_ips: list[str] = []
        self.freed_ports: set[int] = set()
        self._allocator = allocator

    async def commit(self) -> None:
        """Give back what the service has no more."""
        await self._allocator.give_back(self.owner, self.freed_ips, self.freed_ports)
        self.freed_ips, self.freed_ports = [], set()

    async def undo(self) -> None:
        """Give back what was taken for a write that did not happen."""
        await self._allocator.give_back(self.owner, self.ips, self.ports)
        self.ips, self.ports = [], set()


class ServiceAllocator:
    """The pools of the cluster. All state is in the store: any number of servers may work on it."""

    def __init__(
        self,
        store: Store,
        options: ServiceOptions | None = None,
        *,
        timestamp: Callable[[], str] = _timestamp,
        random: Random | None = None,
    ) -> None:
        self.options = options or ServiceOptions()
        random = random or Random()
        self.addresses = AddressPool(store, self.options, timestamp, random)
        self.ports = PortPool(store, self.options.node_ports, timestamp, random)
        self._repair = Repair(store, self.addresses, self.ports)

    async def start(self) -> None:
        """Note what existing services hold, and free what a crash left behind."""
        await self._repair.start()

    async def close(self) -> None:
        """Stop what start() left running."""
        await self._repair.close()

    async def allocate(self, new: Object, old: Object | None, *, dry_run: bool = False) -> Allocation:
        """Complete a service to be written; a StatusError tells what cannot be had."""
        if old is None:
            return await self.allocate_create(new, dry_run=dry_run)
        return await self.allocate_update(new, old, dry_run=dry_run)

    async def allocate_create(self, obj: Object, *, dry_run: bool = False) -> Allocation:
        """Complete a new service."""
        return await self._allocate(obj, None, dry_run)

    async def allocate_update(self, new: Object, old: Object, *, dry_run: bool = False) -> Allocation:
        """Complete a changed service; a write that leaves the spec alone (of its status) changes nothing."""
        if new.get("spec") == old.get("spec"):
            return Allocation(self, new)
        return await self._allocate(new, old, dry_run)

    async def _allocate(self, new: Object, old: Object | None, dry_run: bool) -> Allocation:
        families.choose_families(new, old, self.options.families)
        allocation = Allocation(self, new)
        try:
            await self._take_addresses(new, old, allocation, dry_run)
            await self._take_ports(new, old, allocation, dry_run)
        except BaseException:
            await allocation.undo()
            raise
        return allocation

    async def _take_addresses(
        self, new: Object, old: Object | None, allocation: Allocation, dry_run: bool
    ) -> None:
        spec, before = new.get("spec", {}), (old or {}).get("spec", {})
        if old is not None and families.keeps_preferred(spec, before):
            return
        held = before.get("clusterIPs", []) if before.get("type") != "ExternalName" else []
        if old is not None and held[:1] == [NONE]:
            return
        if spec.get("type") == "ExternalName":
            if not dry_run:
                allocation.freed_ips = list(held)
            return
        if spec.get("clusterIPs", [])[:1] == [NONE]:
            return
        wanted, kinds = list(spec.get("clusterIPs", [])), spec.get("ipFamilies", [])
        for index, family in enumerate(kinds):
            if index < len(held):
                continue  # an address that the service has stays
            wish = wanted[index] if index < len(wanted) else ""
            ip = await self._take_address(new, wish, family, wanted, dry_run)
            wanted[index:] = [ip, *wanted[index + 1 :]]
            if not dry_run:
                allocation.ips.append(ip)
        if wanted:
            spec["clusterIPs"], spec["clusterIP"] = wanted, wanted[0]
        if not dry_run:
            allocation.freed_ips = list(held[max(len(kinds), 1) :])

    async def _take_address(
        self, service: Object, wish: str, family: str, wanted: list[str], dry_run: bool
    ) -> str:
        try:
            if wish:
                await self.addresses.take(wish, family, service, dry_run)
                return wish
            return await self.addresses.take_any(family, service, dry_run)
        except RangeFull as error:
            name = service["metadata"].get("name", "")
            raise errors.internal(f'failed to allocate a serviceIP for Service "{name}": {error}') from None
        except AddressError as error:
            problems = Errors()
            problems.invalid(_IPS, wanted, f"failed to allocate IP {wish}: {error}")
            raise errors.invalid("", "Service", service["metadata"].get("name", ""), problems) from None

    async def _take_ports(
        self, new: Object, old: Object | None, allocation: Allocation, dry_run: bool
    ) -> None:
        plan = PortPlan(self.ports, new, old, dry_run)
        if plan.is_idle:
            return
        if dry_run:
            plan.decide(self.ports.taken())
            plan.apply()
            return
        plan.decide(self.ports.taken())
        if plan.chosen:
            await self.ports.change(plan.decide)
            allocation.ports = plan.chosen
        plan.apply()
        allocation.freed_ports = plan.released()

    async def note(self, obj: Object) -> None:
        """Write down the addresses of a service that nobody asked the pools for."""
        for ip in _addresses(obj):
            await self.addresses.note(ip, obj)

    async def release(self, obj: Object) -> None:
        """Give back all that a deleted service held."""
        meta = obj["metadata"]
        owner = (meta.get("namespace", ""), meta.get("name", ""))
        await self.give_back(owner, _addresses(obj), all_ports(obj.get("spec", {})))

    async def give_back(self, owner: tuple[str, str], ips: list[str], ports: set[int]) -> None:
        """Put addresses and ports back into their pools."""
        for ip in ips:
            await self.addresses.release(ip, *owner)
        if ports:
            await self.ports.change(lambda taken: taken - ports)


def _addresses(service: Object) -> list[str]:
    """Return the addresses that a service holds of the pools."""
    spec = service.get("spec", {})
    if spec.get("type") == "ExternalName":
        return []
    return [ip for ip in spec.get("clusterIPs", ()) if ip != NONE]
