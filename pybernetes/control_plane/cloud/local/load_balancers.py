"""Load balancers of the local cloud: an address of the machine's pool, and nodes that take what arrives there."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.local.health import KUBE_PROXY_PORT, HealthChecks, Target, usable
from pybernetes.control_plane.cloud.local.machine import Balancer, Machine
from pybernetes.control_plane.cloud.provider import CloudError, Ingress

# An annotation: a label selector of the nodes that a load balancer stands in front of, if not of all.
NODE_SELECTOR = "service.pybernetes.dev/node-selector"
SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
VIP = "VIP"  # packets reach nodes with the balancer's own address, so that no node port is needed


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a service asks for, and where its nodes are asked whether they are well."""

    balancer: Balancer
    targets: tuple[Target, ...]


def choose_address(service: Object, present: str, taken: Iterable[str], pool: Sequence[str]) -> str:
    """Return the address for a service: the one that it has or asks for, or a free one; CloudError if none is."""
    free = [address for address in pool if address not in set(taken)]
    ingresses = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    wish = service["spec"].get("loadBalancerIP") or ""
    if wish and wish not in free and wish != present:
        why = "is taken" if wish in pool else f"is none of {pool[0]} to {pool[-1]}"
        raise CloudError(f"the address {wish} of spec.loadBalancerIP {why}")
    wishes = [wish, present, *(entry.get("ip", "") for entry in ingresses)]
    address = next((text for text in wishes if text and (text in free or text == present)), "")
    if not address and not free:
        raise CloudError(f"all {len(pool)} addresses for load balancers are taken")
    return address or free[0]


def source_ranges(service: Object) -> tuple[str, ...]:
    """Return who may connect, of IPv4; ValueError if it is no list of ranges."""
    given = service["spec"].get("loadBalancerSourceRanges")
    if not given:
        text = (service["metadata"].get("annotations") or {}).get(SOURCE_RANGES, "").strip()
        given = text.split(",") if text else []
    try:
        networks = [ipaddress.ip_network(part.strip(), strict=False) for part in given]
    except ValueError as error:
        raise ValueError(f"{given} is not valid. Expecting a list of IP ranges: {error}") from None
    if any(network.prefixlen == 0 and network.version == 4 for network in networks):
        return ()
    return tuple(sorted({str(network) for network in networks if network.version == 4})) or (
        ("255.255.255.255/32",) if networks else ()  # ranges of the other family only: nobody here
    )


def chosen(service: Object, nodes: Iterable[Object]) -> list[str]:
    """Return the names of the nodes that a service's load balancer stands in front of."""
    text = (service["metadata"].get("annotations") or {}).get(NODE_SELECTOR, "")
    try:
        selector = selectors.parse_labels(text)
    except ValueError as error:
        raise ValueError(f"the annotation {NODE_SELECTOR}: {error}") from None
    return [
        node["metadata"]["name"] for node in nodes if selector.matches(node["metadata"].get("labels") or {})
    ]


def wanted(service: Object, addresses: Iterable[str], address: str) -> Wanted:
    """Return what a service asks for at an address, in front of nodes with these addresses."""
    spec, addresses = service["spec"], tuple(addresses)
    if "IPv4" not in (spec.get("ipFamilies") or ["IPv4"]):
        raise CloudError("the local cloud has IPv4 addresses only")
    local = spec.get("externalTrafficPolicy") == "Local" and spec.get("healthCheckNodePort")
    port = spec["healthCheckNodePort"] if local else KUBE_PROXY_PORT
    affinity = 0
    if spec.get("sessionAffinity") == "ClientIP":
        config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        affinity = config.get("timeoutSeconds") or 10800
    ports = tuple((entry.get("protocol") or "TCP", entry["port"]) for entry in spec.get("ports") or ())
    balancer = Balancer(
        service["metadata"]["uid"], address, ports, addresses, source_ranges(service), affinity
    )
    return Wanted(balancer, tuple(Target(node, port) for node in addresses))


class LocalLoadBalancers:
    """Load balancers on this machine."""

    def __init__(self, machine: Machine, checks: HealthChecks) -> None:
        self._machine, self._checks = machine, checks
        self._wanted: dict[str, Wanted] = {}  # by the uids of services
        self._present: dict[str, Balancer] | None = None  # by address, as the machine has them
        self._lock = asyncio.Lock()  # so that no address is given twice

    async def _load(self) -> dict[str, Balancer]:
        if self._present is None:
            self._present = dict(await self._machine.balancers())
        return self._present

    async def _find(self, service: Object) -> Balancer | None:
        uid = service["metadata"]["uid"]
        return next((entry for entry in (await self._load()).values() if entry.owner == uid), None)

    async def get(self, cluster: str, service: Object) -> Sequence[Ingress] | None:
        """Return the address of a service's load balancer."""
        balancer = await self._find(service)
        return None if balancer is None else [Ingress(balancer.address, ip_mode=VIP)]

    async def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Sequence[Ingress]:
        """Make or change a load balancer."""
        async with self._lock:
            present = await self._find(service)
            mine = present.address if present is not None else ""
            address = choose_address(service, mine, set(await self._load()) - {mine}, self._machine.pool)
            asked = wanted(service, await self._addresses(service, nodes), address)
            if mine and mine != address:
                await self._remove(mine)
            await self._apply(asked)
        return [Ingress(address, ip_mode=VIP)]

    async def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Change the nodes behind a load balancer."""
        async with self._lock:
            present = await self._find(service)
            if present is None:
                raise CloudError("there is no such load balancer")
            await self._apply(wanted(service, await self._addresses(service, nodes), present.address))

    async def delete(self, cluster: str, service: Object) -> None:
        """Remove a load balancer; its address is free for others."""
        async with self._lock:
            present = await self._find(service)
            uid = service["metadata"]["uid"]
            self._wanted.pop(uid, None)
            self._checks.want(uid, ())
            if present is not None:
                await self._remove(present.address)

    async def refresh(self) -> None:
        """Send connections to those nodes that are well by now."""
        async with self._lock:
            for asked in list(self._wanted.values()):
                await self._apply(asked)

    async def _addresses(self, service: Object, nodes: Sequence[Object]) -> list[str]:
        """Return the addresses of nodes as the machine has them: what a node says of itself may be anybody's."""
        instances = [await self._machine.instance(name) for name in chosen(service, nodes)]
        return [instance.address for instance in instances if instance is not None and instance.address]

    async def _apply(self, asked: Wanted) -> None:
        """Have the machine balance what is asked for, over the nodes that are well."""
        owner = asked.balancer.owner
        self._wanted[owner] = asked
        self._checks.want(owner, asked.targets)
        await self._checks.learn(asked.targets)  # a node gets connections when it is known to be well
        well = tuple(target.address for target in usable(asked.targets, self._checks.healths))
        balancer = Balancer(
            owner, asked.balancer.address, asked.balancer.ports, well, asked.balancer.source_ranges,
            asked.balancer.affinity_seconds,
        )  # fmt: skip
        present = await self._load()
        if present.get(balancer.address) != balancer:
            await self._machine.balance(balancer)
            present[balancer.address] = balancer

    async def _remove(self, address: str) -> None:
        await self._machine.unbalance(address)
        (await self._load()).pop(address, None)
