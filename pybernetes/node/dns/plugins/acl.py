"""acl [ZONES…] { ACTION [type QTYPE…] [net SOURCE…] }: who may ask what."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import Directive, Line
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap, zone_of
from pybernetes.node.dns.query import Dropped, Handler, Query

_ACTIONS = ("allow", "block", "filter", "drop")
_TYPES = {name: number for number, name in wire.TYPES.items()}
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Policy:
    """One line: an action for questions of some types from some networks; None for any."""

    action: str
    types: frozenset[int] | None
    networks: tuple[_Network, ...] | None

    def matches(self, query: Query) -> bool:
        """Return whether a question is meant."""
        if self.types is not None and query.type not in self.types:
            return False
        if self.networks is None:
            return True
        try:
            address = ipaddress.ip_address(query.client[0].partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None) or address
        return any(mapped in network for network in self.networks)


def setup(controller: Controller) -> Wrap:
    """Set up the rules of a block: the first zone and line that match decide."""
    rules = [_rule(controller, directive) for directive in controller.directives]
    metrics = controller.environment.metrics

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            for zones, policies in rules:
                if zone_of(query, zones) is None:
                    continue
                action = next((policy.action for policy in policies if policy.matches(query)), "allow")
                if action == "allow":
                    break
                metrics.count(f"coredns_acl_{_COUNTED[action]}_requests_total")
                if action == "drop":
                    raise Dropped
                return Message(query.question, wire.REFUSED if action == "block" else wire.NOERROR).encode()
            return await following(query)

        return answer

    return wrap


_COUNTED = {"block": "blocked", "filter": "filtered", "drop": "dropped"}


def _rule(controller: Controller, directive: Directive) -> tuple[tuple[bytes, ...], list[Policy]]:
    zones = controller.zones_or_own(directive.arguments, directive.line)
    return zones, [_policy(line) for line in directive.inner]


def _policy(line: Line) -> Policy:
    action, *words = line.words
    if action not in _ACTIONS:
        raise line.problem(f"unexpected token \"{action}\"; expect 'allow', 'block', 'filter' or 'drop'")
    types: set[int] | None = None
    networks: list[_Network] | None = None
    while words:
        section = words.pop(0)
        if section not in ("type", "net"):
            raise line.problem(f"unexpected token \"{section}\"; expect 'type | net'")
        tokens: list[str] = []
        while words and words[0] not in ("type", "net"):
            tokens.append(words.pop(0))
        if not tokens:
            raise line.problem(f'no token specified in "{section}" section')
        if "*" in tokens:
            continue
        if section == "type":
            for token in tokens:
                if token.upper() not in _TYPES:
                    raise line.problem(f'unexpected token "{token}"; expect legal QTYPE')
            types = {_TYPES[token.upper()] for token in tokens}
        else:
            networks = [_network(line, token) for token in tokens]
    return Policy(
        action, None if types is None else frozenset(types), None if networks is None else tuple(networks)
    )


def _network(line: Line, token: str) -> _Network:
    try:
        return ipaddress.ip_network(token, strict=False)
    except ValueError:
        raise line.problem(f'illegal CIDR notation "{token}"') from None


PLUGIN = Plugin(setup)
