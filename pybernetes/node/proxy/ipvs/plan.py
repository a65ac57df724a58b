"""What has to change in the kernel: from what is there and what ServicePorts ask for to steps. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from pybernetes.node.proxy.ipvs.sets import Entry
from pybernetes.node.proxy.ipvs.virtual_servers import (
    NOTHING,
    Address,
    RealServer,
    VirtualServer,
    Wanted,
)

T = TypeVar("T", str, Entry)


@dataclass
class Present:
    """What is in the kernel; of real servers those that get new connections."""

    servers: dict[Address, VirtualServer] = field(default_factory=dict)
    real: dict[Address, frozenset[RealServer]] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    entries: set[Entry] = field(default_factory=set)


@dataclass
class Touched:
    """What may have to change."""

    servers: set[Address] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    entries: set[Entry] = field(default_factory=set)

    def add(self, wanted: Wanted) -> None:
        """Touch all that a ServicePort asks or asked for."""
        self.servers.update(wanted.servers)
        self.bound.update(wanted.bound)
        self.entries.update(wanted.entries)


@dataclass
class Plan:
    """The steps, in the order in which they are taken: nobody is sent to a place that is not ready."""

    put: list[tuple[Address, VirtualServer]] = field(default_factory=list)
    put_real: list[tuple[Address, RealServer]] = field(default_factory=list)
    add_entries: list[Entry] = field(default_factory=list)
    bind: list[str] = field(default_factory=list)
    unbind: list[str] = field(default_factory=list)
    end_real: list[tuple[Address, RealServer]] = field(default_factory=list)
    remove: list[Address] = field(default_factory=list)
    remove_entries: list[Entry] = field(default_factory=list)


class Desired:
    """What all ServicePorts ask for together. Of two that ask for one address the one that came first has it."""

    def __init__(self) -> None:
        self._wanted: dict[Hashable, Wanted] = {}
        self._claims: dict[Address, dict[Hashable, tuple[VirtualServer, tuple[RealServer, ...]]]] = {}
        self._bound: Counter[str] = Counter()
        self._entries: Counter[Entry] = Counter()

    def set(self, key: Hashable, wanted: Wanted, touched: Touched) -> None:
        """Note what a ServicePort asks for now."""
        before = self._wanted.pop(key, NOTHING)
        if wanted is not NOTHING:
            self._wanted[key] = wanted
        for address in before.servers:
            if address not in wanted.servers:
                del self._claims[address][key]
        for address, server in wanted.servers.items():
            self._claims.setdefault(address, {})[key] = server
        for counter, old, new in ((self._bound, before.bound, wanted.bound), (self._entries, before.entries, wanted.entries)):  # fmt: skip
            counter.subtract(old)  # type: ignore[arg-type]
            counter.update(new)  # type: ignore[arg-type]
        touched.add(before)
        touched.add(wanted)

    def all(self) -> Touched:
        """Return everything that is asked for."""
        touched = Touched()
        for wanted in self._wanted.values():
            touched.add(wanted)
        return touched

    def plan(self, present: Present, touched: Touched) -> Plan:
        """Return the steps for what was touched."""
        plan = Plan()
        for address in sorted(touched.servers):
            claims = self._claims.get(address)
            if not claims:
                self._claims.pop(address, None)
                if address in present.servers:
                    plan.remove.append(address)
                continue
            server, real = next(iter(claims.values()))
            if present.servers.get(address) != server:
                plan.put.append((address, server))
            there = present.real.get(address, frozenset())
            plan.put_real += [(address, target) for target in real if target not in there]
            plan.end_real += [(address, target) for target in sorted(there.difference(real))]
        plan.bind, plan.unbind = _difference(self._bound, present.bound, touched.bound)
        plan.add_entries, plan.remove_entries = _difference(self._entries, present.entries, touched.entries)
        return plan


def _difference(counter: Counter[T], present: set[T], touched: Iterable[T]) -> tuple[list[T], list[T]]:
    """Return what is to come and what is to go."""
    ordered = sorted(touched)
    come = [item for item in ordered if counter[item] > 0 and item not in present]
    go = [item for item in ordered if counter[item] <= 0]
    for item in go:
        del counter[item]
    return come, [item for item in go if item in present]


def carried_out(present: Present, plan: Plan) -> None:
    """Note that the steps were taken."""
    present.servers.update(plan.put)
    for address, target in plan.put_real:
        present.real[address] = present.real.get(address, frozenset()) | {target}
    for address, target in plan.end_real:
        present.real[address] -= {target}
    for address in plan.remove:
        del present.servers[address]
        present.real.pop(address, None)
    present.bound.update(plan.bind)
    present.bound.difference_update(plan.unbind)
    present.entries.update(plan.add_entries)
    present.entries.difference_update(plan.remove_entries)
