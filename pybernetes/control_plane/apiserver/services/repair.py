"""Brings the pools in step with the services that exist: what a crash between two writes left behind.

What a service holds and no pool knows is noted at once. What a pool holds for no service is freed: at once
where this server is the only writer, and elsewhere after a while, since another server may be about to write
the service.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

import orjson

from pybernetes.api.core.service.cluster_ips import NONE
from pybernetes.api.resource import Object
from pybernetes.api.validation.addresses import parse_sloppy
from pybernetes.control_plane.apiserver.services import objects
from pybernetes.control_plane.apiserver.services.address_pool import ADDRESSES, AddressPool
from pybernetes.control_plane.apiserver.services.port_plan import all_ports
from pybernetes.control_plane.apiserver.services.port_pool import PortPool
from pybernetes.control_plane.store.protocol import Damaged, Store

log = logging.getLogger(__name__)

SERVICES = "/registry/services/specs/"
_GRACE_SECONDS = 60.0


@dataclass(slots=True)
class Findings:
    """What does not fit: addresses and ports of services that are not noted, and noted ones of no service."""

    missing_addresses: list[tuple[str, Object]] = field(default_factory=list)
    orphaned_addresses: set[str] = field(default_factory=set)
    missing_ports: set[int] = field(default_factory=set)
    leaked_ports: set[int] = field(default_factory=set)


def diagnose(services: list[Object], addresses: list[Object], taken: set[int]) -> Findings:
    """Compare services with what the pools say."""
    owners: dict[str, Object] = {}
    ports: set[int] = set()
    for service in services:
        spec = service.get("spec", {})
        ports |= all_ports(spec)
        if spec.get("type") != "ExternalName":
            owners |= {str(parse_sloppy(ip)): service for ip in spec.get("clusterIPs", ()) if ip != NONE}
    findings = Findings(missing_ports=ports - taken, leaked_ports=taken - ports)
    noted = set()
    for address in addresses:
        meta, parent = address["metadata"], address.get("spec", {}).get("parentRef", {})
        name, owner = meta.get("name", ""), owners.get(meta.get("name", ""))
        reference = (parent.get("namespace", ""), parent.get("name", ""))
        if owner is not None and reference == (
            owner["metadata"].get("namespace", ""),
            owner["metadata"]["name"],
        ):
            noted.add(name)
        elif (meta.get("labels") or {}).get(objects.MANAGER_LABEL) == objects.MANAGER:
            findings.orphaned_addresses.add(name)
    findings.missing_addresses = [(ip, owner) for ip, owner in owners.items() if ip not in noted]
    return findings


class Repair:
    """Runs the comparison at the start, and once more a little later where other servers write too."""

    def __init__(self, store: Store, addresses: AddressPool, ports: PortPool) -> None:
        self._store = store
        self._addresses = addresses
        self._ports = ports
        self._later: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Note what is missing; free what is left over, now or later."""
        try:
            findings = self._look()
        except Damaged as error:
            # What belongs to a service that cannot be read must not be given away.
            log.error("services are not compared with their addresses and ports: %s", error)
            return
        if findings.missing_ports:
            await self._ports.change(
                lambda taken: taken | {port for port in findings.missing_ports if port in self._ports.range}
            )
        if self._store.local:
            await self._free(findings)
        elif findings.orphaned_addresses or findings.leaked_ports:
            self._later = asyncio.create_task(self._free_later(findings))
        for ip, service in findings.missing_addresses:
            await self._addresses.note(ip, service)

    async def close(self) -> None:
        """Give up on what was to be done later."""
        if self._later is not None:
            self._later.cancel()
            await asyncio.gather(self._later, return_exceptions=True)

    def _look(self) -> Findings:
        services, addresses = (
            [orjson.loads(record.value) for record in self._store.list(prefix).records]
            for prefix in (SERVICES, ADDRESSES)
        )
        return diagnose(services, addresses, self._ports.taken())

    async def _free_later(self, before: Findings) -> None:
        await asyncio.sleep(_GRACE_SECONDS)
        try:
            now = self._look()
        except Damaged:
            return
        now.orphaned_addresses &= before.orphaned_addresses
        now.leaked_ports &= before.leaked_ports
        await self._free(now)

    async def _free(self, findings: Findings) -> None:
        for ip in findings.orphaned_addresses:
            await self._addresses.free(ip)
        if findings.leaked_ports:
            await self._ports.change(lambda taken: taken - findings.leaked_ports)
