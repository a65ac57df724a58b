"""What the local cloud needs of the machine that it is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LocalInstance:
    """A node of the machine."""

    addresses: tuple[str, ...] = ()  # at most one of each family; none for one that only pretends
    off: bool = False
    group: str = ""
    zone: str = ""  # empty for the machine's usual one, as the region
    region: str = ""


@dataclass(frozen=True, slots=True)
class Balancer:
    """A load balancer as the machine has it: what arrives at its address goes to one of the nodes, unchanged."""

    owner: str  # the uid of its service
    address: str
    ports: tuple[tuple[str, int], ...]  # protocols (TCP, UDP, SCTP) and numbers
    nodes: tuple[str, ...] = ()  # addresses of those that take new connections; without any, they are refused
    source_ranges: tuple[str, ...] = ()  # who may connect; empty for everybody
    affinity_seconds: int = 0  # for how long a client stays with its node; 0 for one connection


@dataclass(frozen=True, slots=True)
class MachineRoute:
    """A route as the machine has it."""

    destination: str  # a range of pods
    node: str  # empty if nobody has the gateway's address any more
    gateway: str
    complete: bool  # whether every other node has it


class Machine(Protocol):
    """The machine. What goes wrong is an OSError."""

    cluster: str  # by which provider ids tell clusters apart
    pool: tuple[str, ...]  # the addresses that load balancers may have

    async def instance(self, name: str) -> LocalInstance | None:
        """Return a node by its name; None if there is certainly none."""

    async def balancers(self) -> Mapping[str, Balancer]:
        """Return the load balancers that there are, by their addresses."""

    async def balance(self, balancer: Balancer) -> None:
        """Make a load balancer, or change it; connections that exist stay where they are."""

    async def unbalance(self, address: str) -> None:
        """Remove a load balancer, if there is one at an address."""

    async def routes(self) -> Sequence[MachineRoute]:
        """Return the routes between nodes that the cloud made."""

    async def route(self, destination: str, node: str) -> None:
        """Have all other nodes reach a range of pods by a node."""

    async def unroute(self, destination: str, gateway: str) -> None:
        """Remove the route to a range by an address, if there is one."""
