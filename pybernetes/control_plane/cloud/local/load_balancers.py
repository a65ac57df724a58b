"""Load balancers of the local cloud: an address of the machine's pool, and nodes that take what arrives there."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.local.health import KUBE_PROXY_PORT, HealthChecks, Target, usable
from pybernetes.control_plane.cloud.local.machine import Balancer, Machine
from pybernetes.control_plane.cloud.provider import CloudError, Ingress

# An annotation: a label selector of the nodes that a load balancer stands in front of, if not of all.
NODE_SELECTOR = "service.pybernetes.dev/node-selector"
SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_NOBODY = {4: "255.255.255.255/32", 6: "100::/128"}  # addresses that no packet comes from
_MOST_RANGES = 1000  # as many as the machine is told in one question
VIP = "VIP"  # packets reach nodes with the balancer's own address, so that no node port is needed


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a service asks for, and where its nodes are asked whether they are well."""

    balancer: Balancer
    targets: tuple[Target, ...]


def families(service: Object, pool: Sequence[str]) -> list[int]:
    """Return the families that a service gets addresses of; CloudError if the machine has none of them."""
    names = service["spec"].get("ipFamilies") or [f"IPv{_version(pool[0])}"]
    there = {_version(address) for address in pool}
    wanted = [version for name in names if (version := int(name.removeprefix("IPv"))) in there]
    if not wanted:
        raise CloudError(f"this cluster has no addresses of {', '.join(names)} for load balancers")
    return wanted


def _version(address: str) -> int:
    return 6 if ":" in address else 4


def choose_address(service: Object, present: str, taken: Iterable[str], pool: Sequence[str]) -> str:
    """Return the address for a service: the one that it has or asks for, or a free one; CloudError if none is.

    The pool is of one family. What the service asks for counts if it is of that family.
    """
    free = [address for address in pool if address not in set(taken)]
    ingresses = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    wish = service["spec"].get("loadBalancerIP") or ""
    wish = wish if wish and _version(wish) == _version(pool[0]) else ""
    if wish and wish not in free and wish != present:
        why = "is taken" if wish in pool else f"is none of {pool[0]} to {pool[-1]}"
        raise CloudError(f"the address {wish} of spec.loadBalancerIP {why}")
    wishes = [wish, present, *(entry.get("ip", "") for entry in ingresses)]
    address = next((text for text in wishes if text and (text in free or text == present)), "")
    if not address and not free:
        raise CloudError(f"all {len(pool)} addresses for load balancers are taken")
    return address or free[0]


def source_ranges(service: Object, version: int = 4) -> tuple[str, ...]:
    """Return who may connect, of a family; CloudError if it is no list of ranges."""
    given = service["spec"].get("loadBalancerSourceRanges")
    if not given:
        text = (service["metadata"].get("annotations") or {}).get(SOURCE_RANGES, "").strip()
        given = text.split(",") if text else []
    if len(given) > _MOST_RANGES:
        raise CloudError(f"a load balancer here has at most {_MOST_RANGES} source ranges, not {len(given)}")
    try:
        networks = [ipaddress.ip_network(part.strip(), strict=False) for part in given]
    except ValueError as error:
        raise CloudError(f"{given} is not valid. Expecting a list of IP ranges: {error}") from None
    if any(network.prefixlen == 0 and network.version == version for network in networks):
        return ()
    return tuple(sorted({str(network) for network in networks if network.version == version})) or (
        (_NOBODY[version],) if networks else ()  # ranges of the other family only: nobody here
    )


def chosen(service: Object, nodes: Iterable[Object]) -> list[str]:
    """Return the names of the nodes that a service's load balancer stands in front of; CloudError if it names none that can be."""
    text = (service["metadata"].get("annotations") or {}).get(NODE_SELECTOR, "")
    try:
        selector = selectors.parse_labels(text)
    except ValueError as error:
        raise CloudError(f"the annotation {NODE_SELECTOR}: {error}") from None
    return [
        node["metadata"]["name"] for node in nodes if selector.matches(node["metadata"].get("labels") or {})
    ]


def wanted(service: Object, addresses: Iterable[str], address: str) -> Wanted:
    """Return what a service asks for at an address, in front of nodes with these addresses of its family."""
    spec, version = service["spec"], _version(address)
    addresses = tuple(node for node in addresses if _version(node) == version)
    local = spec.get("externalTrafficPolicy") == "Local" and spec.get("healthCheckNodePort")
    port = spec["healthCheckNodePort"] if local else KUBE_PROXY_PORT
    affinity = 0
    if spec.get("sessionAffinity") == "ClientIP":
        config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        affinity = config.get("timeoutSeconds") or 10800
    ports = tuple((entry.get("protocol") or "TCP", entry["port"]) for entry in spec.get("ports") or ())
    balancer = Balancer(
        service["metadata"]["uid"], address, ports, addresses, source_ranges(service, version), affinity
    )
    return Wanted(balancer, tuple(Target(node, port) for node in addresses))


class LocalLoadBalancers:
    """Load balancers on this machine."""

    def __init__(self, machine: Machine, checks: HealthChecks) -> None:
        self._machine, self._checks = machine, checks
        self._wanted: dict[str, list[Wanted]] = {}  # by the uids of services
        self._present: dict[str, Balancer] | None = None  # by address, as the machine has them
        self._lock = asyncio.Lock()  # so that no address is given twice

    async def _load(self) -> dict[str, Balancer]:
        if self._present is None:
            self._present = dict(await self._machine.balancers())
        return self._present

    async def _find(self, service: Object) -> dict[int, str]:
        """Return the addresses of a service's load balancer, by family."""
        uid = service["metadata"]["uid"]
        return {
            _version(address): address
            for address, balancer in (await self._load()).items()
            if balancer.owner == uid
        }

    async def get(self, cluster: str, service: Object) -> Sequence[Ingress] | None:
        """Return the addresses of a service's load balancer."""
        present = await self._find(service)
        order = [version for version in families(service, self._machine.pool) if version in present]
        return [Ingress(present[version], ip_mode=VIP) for version in order] if present else None

    async def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Sequence[Ingress]:
        """Make or change a load balancer."""
        async with self._lock:
            present = await self._find(service)
            chosen_addresses = []
            for version in families(service, self._machine.pool):
                mine = present.get(version, "")
                pool = [address for address in self._machine.pool if _version(address) == version]
                taken = set(await self._load()) - {mine}
                chosen_addresses.append(choose_address(service, mine, taken, pool))
            behind = await self._addresses(service, nodes)
            asked = [wanted(service, behind, address) for address in chosen_addresses]
            for address in set(present.values()) - set(chosen_addresses):
                await self._remove(address)
            await self._apply(asked)
        return [Ingress(address, ip_mode=VIP) for address in chosen_addresses]

    async def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Change the nodes behind a load balancer."""
        async with self._lock:
            present = await self._find(service)
            if not present:
                raise CloudError("there is no such load balancer")
            behind = await self._addresses(service, nodes)
            await self._apply([wanted(service, behind, address) for address in present.values()])

    async def delete(self, cluster: str, service: Object) -> None:
        """Remove a load balancer; its address is free for others."""
        async with self._lock:
            present = await self._find(service)
            uid = service["metadata"]["uid"]
            self._wanted.pop(uid, None)
            self._checks.want(uid, ())
            for address in present.values():
                await self._remove(address)

    async def refresh(self) -> None:
        """Send connections to those nodes that are well by now."""
        async with self._lock:
            for asked in list(self._wanted.values()):
                await self._apply(asked)

    async def _addresses(self, service: Object, nodes: Sequence[Object]) -> list[str]:
        """Return the addresses of nodes as the machine has them: what a node says of itself may be anybody's."""
        instances = [await self._machine.instance(name) for name in chosen(service, nodes)]
        return [address for instance in instances if instance is not None for address in instance.addresses]

    async def _apply(self, asked: list[Wanted]) -> None:
        """Have the machine balance what a service asks for, over the nodes that are well."""
        owner = asked[0].balancer.owner
        self._wanted[owner] = asked
        targets = [target for entry in asked for target in entry.targets]
        self._checks.want(owner, targets)
        await self._checks.learn(targets)  # a node gets connections when it is known to be well
        present = await self._load()
        for entry in asked:
            well = tuple(target.address for target in usable(entry.targets, self._checks.healths))
            balancer = replace(entry.balancer, nodes=well)
            if present.get(balancer.address) != balancer:
                await self._machine.balance(balancer)
                present[balancer.address] = balancer

    async def _remove(self, address: str) -> None:
        await self._machine.unbalance(address)
        (await self._load()).pop(address, None)
