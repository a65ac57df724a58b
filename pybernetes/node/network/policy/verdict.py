"""Asks a node's table about one packet, as the kernel does. Pure."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple

from pybernetes.node.network.policy.rules import EGRESS, INGRESS
from pybernetes.node.network.policy.state import State
from pybernetes.node.network.policy.table import Statement, family


class Packet(NamedTuple):
    """The first packet of a connection, after the address of a service became that of a pod."""

    source: str
    destination: str
    protocol: str  # tcp, udp, sctp or another
    port: int


class Verdict(NamedTuple):
    """Whether a table lets a packet pass in one direction, and the rule that decided; empty if none did."""

    allowed: bool
    origin: str = ""


def ask(state: State, packet: Packet, direction: str) -> Verdict:
    """Return what a node's table does to a packet that a pod of the node sends (egress) or gets (ingress)."""
    if packet.source == packet.destination:
        return Verdict(True, "a pod always reaches itself")
    own = packet.source if direction == EGRESS else packet.destination
    chain = state.maps.get(f"{direction}{family(own)}", {}).get(own)
    if chain is None:
        return Verdict(True)
    return _walk(state, chain, packet, direction) or Verdict(True)


def _walk(state: State, chain: str, packet: Packet, direction: str) -> Verdict | None:
    for statement in state.chains[chain]:
        if not _matches(state, statement, packet, direction):
            continue
        verb, _, target = statement.verdict.partition(" ")
        if verb == "jump":
            verdict = _walk(state, target, packet, direction)
            if verdict is not None:
                return verdict
        elif verb == "return":
            return None
        else:
            return Verdict(verb == "accept", statement.origin)
    return None


def _matches(state: State, statement: Statement, packet: Packet, direction: str) -> bool:
    elements = state.members.elements.counts
    peer = packet.destination if direction == EGRESS else packet.source
    if statement.version and statement.version != family(peer):
        return False
    if statement.group and peer not in elements[statement.group]:
        return False
    if statement.ranges:
        number = int(ip_address(peer))
        if not any(block.first <= number <= block.last for block in statement.ranges):
            return False
    if statement.protocol and statement.protocol != packet.protocol:
        return False
    if statement.ports and not any(first <= packet.port <= last for first, last in statement.ports):
        return False
    element = f"{packet.destination} . {packet.protocol} . {packet.port}"
    return not statement.named or element in elements[statement.named]


__all__ = ["EGRESS", "INGRESS", "Packet", "Verdict", "ask"]
