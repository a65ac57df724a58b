"""The form of a node's table: chains of statements, sets and maps. Pure; ``nft`` writes it, ``verdict`` asks it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pybernetes.node.network.policy.blocks import Range, merged
from pybernetes.node.network.policy.rules import ACCEPT, DENY, Group, Ports, Rule

_VERDICTS = {ACCEPT: "accept", DENY: "drop"}  # to pass is to return from the tier's chain
_UNSAFE = re.compile(r"[^A-Za-z0-9 ._/\[\]-]")
_LONGEST_COMMENT = 120
LOCAL = "local"  # set: the pods of this node whose rules are in
SELF = "self"  # set: each of them twice, since no pod is cut off from itself


class Statement(NamedTuple):
    """One line of a chain: what must be so of a packet, and what happens then."""

    verdict: str  # accept, drop, return, or "jump CHAIN"
    origin: str = ""
    version: int = 0  # 0: both families
    group: str = ""  # a set that the peer's address must be in
    ranges: tuple[Range, ...] = ()
    protocol: str = ""
    ports: tuple[tuple[int, int], ...] = ()  # of the destination; empty: every one
    named: str = ""  # a set that destination, protocol and port must be in


def short(*words: str) -> str:
    """Return a name for what the words say; the same words always have the same."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def group_set(group: Group, version: int) -> str:
    """Return the name of the set with the addresses of a group."""
    return f"pods{version}-{short(group.namespace, group.namespaces, group.pods)}"


def port_set(names: str, version: int) -> str:
    """Return the name of the set with the pods' ports of some names, given in short: they may be many."""
    return f"ports{version}-{names}"


def family(address: str) -> int:
    """Return the family of an address that was read before."""
    return 6 if ":" in address else 4


def comment(origin: str) -> str:
    """Return an origin as nftables can keep it: names of rules may be any text."""
    return _UNSAFE.sub("_", origin)[:_LONGEST_COMMENT]


def statements(rule: Rule, versions: Iterable[int]) -> Iterator[Statement]:
    """Yield the lines of a rule."""
    verdict = _VERDICTS.get(rule.action, "return")
    ports = list(_ports(rule.ports))
    for version in versions:
        peers: list[Statement] = []
        if rule.anyone:
            peers.append(Statement(verdict, rule.origin, version))
        peers += [
            Statement(verdict, rule.origin, version, group=group_set(group, version)) for group in rule.groups
        ]
        own = tuple(merged(block for block in rule.ranges if block.version == version))
        if own:
            peers.append(Statement(verdict, rule.origin, version, ranges=own))
        for peer in peers:
            for protocol, numbers, names in ports:
                named = port_set(names, version) if names else ""
                yield peer._replace(protocol=protocol, ports=numbers, named=named)


def _ports(ports: tuple[Ports, ...] | None) -> Iterator[tuple[str, tuple[tuple[int, int], ...], str]]:
    """Yield protocol, numbers and names in short: one line for all numbers of a protocol, and one for its names."""
    if ports is None:
        yield "", (), ""
        return
    numbers: dict[str, list[Range]] = {}
    for port in ports:
        if port.names:
            yield port.protocol, (), short(*port.names)
        else:
            numbers.setdefault(port.protocol, []).append(Range(0, port.first, port.last))
    for protocol, ranges in numbers.items():
        together = merged(ranges)
        if together[0].first == 0:
            yield protocol, (), ""
        else:
            yield protocol, tuple((span.first, span.last) for span in together), ""
