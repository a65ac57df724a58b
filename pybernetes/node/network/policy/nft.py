"""The text of a node's table, for nft. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pybernetes.node.network.firewall import spoofing_rules
from pybernetes.node.network.plan import Network
from pybernetes.node.network.policy.rules import DIRECTIONS, EGRESS
from pybernetes.node.network.policy.state import Changes
from pybernetes.node.network.policy.table import LOCAL, SELF, Statement, comment

NAME = "pybernetes-policy"
TABLE = f"inet {NAME}"
_IP = {4: "ip", 6: "ip6"}
_TYPE = {4: "ipv4_addr", 6: "ipv6_addr"}
_AT_ONCE = 1000  # elements in one line, which nft reads into memory as a whole
# How CNI plugins name this node's end of a pod's link.


def removal() -> str:
    """Return the text that removes the table, whether or not there is one."""
    return f"add table {TABLE}\ndelete table {TABLE}\n"


def whole(changes: Changes, own: Iterable[Network]) -> str:
    """Return the text that replaces the table; ``own`` are this node's ranges of pods."""
    lines = [f"add table {TABLE}", f"delete table {TABLE}", f"add table {TABLE}"]
    lines += _base(tuple(own))
    return "\n".join([*lines, *_lines(changes), ""])


def difference(changes: Changes) -> str:
    """Return the text that changes the table, all or nothing."""
    return "\n".join([*_lines(changes), ""])


def _base(own: tuple[Network, ...]) -> Iterator[str]:
    versions = sorted({network.version for network in own})
    for version in versions:
        for direction in DIRECTIONS:
            yield f"add map {TABLE} {direction}{version} {{ type {_TYPE[version]} : verdict ; }}"
        yield _set(f"{LOCAL}{version}")
        yield _set(f"{SELF}{version}")
    yield f"add chain {TABLE} spoofed {{ type filter hook prerouting priority raw ; policy accept ; }}"
    yield from (f"add rule {TABLE} spoofed {rule}" for rule in spoofing_rules(own))
    # Both directions have their own chain at each hook: what one accepts still comes to the other.
    for position, direction in ((2, EGRESS), (1, "ingress")):
        for hook in ("forward", "output"):
            name = direction if hook == "forward" else f"{direction}-{hook}"
            yield f"add chain {TABLE} {name} {{ type filter hook {hook} priority filter - {position} ; policy accept ; }}"
            yield from (f"add rule {TABLE} {name} {rule}" for rule in _way(direction, hook, own, versions))


def _way(direction: str, hook: str, own: tuple[Network, ...], versions: Iterable[int]) -> Iterator[str]:
    """Yield the rules of a direction's chain at a hook."""
    side = "saddr" if direction == EGRESS else "daddr"
    # Nearly all packets are of connections that were made: they are asked for nothing else.
    if direction == EGRESS:
        yield "ct state established accept"
        # Whoever a connection is not of could make up errors about it, with whatever they carry, for those who have it.
        for version in versions:
            ip = _IP[version]
            for way in ("original", "reply"):
                yield f"ct state related {ip} saddr . ct {way} {ip} saddr @{SELF}{version} accept"
    else:
        yield "ct state established,related accept"
    if hook == "output":
        # A node's own packets are free. Others come here from IPVS, which has chosen the pod behind a service.
        yield "fib saddr type local accept"
    for network in own:
        # A pod is not open before its rules are in.
        ip, known = _IP[network.version], f"@{LOCAL}{network.version}"
        yield f"{ip} {side} {network} {ip} {side} != {known} drop"
    for version in versions:
        ip = _IP[version]
        yield f"{ip} saddr . {ip} daddr @{SELF}{version} accept"
        yield f"{ip} {side} vmap @{direction}{version}"


def _set(name: str) -> str:
    """Return the line that makes a set; its name says what is in it."""
    words, _, _ = name.partition("-")
    kind, version = words[:-1], int(words[-1])
    parts = {
        SELF: (_TYPE[version], _TYPE[version]),
        "ports": (_TYPE[version], "inet_proto", "inet_service"),
    }.get(kind, (_TYPE[version],))
    return f"add set {TABLE} {name} {{ type {' . '.join(parts)} ; }}"


def _lines(changes: Changes) -> Iterator[str]:
    known = changes.known_chains
    yield from (_set(name) for name in changes.sets)
    yield from (f"add chain {TABLE} {name}" for name in changes.chains if name not in known)
    yield from (
        f"flush chain {TABLE} {name}" for name in (*changes.chains, *changes.removed_chains) if name in known
    )
    for name, content in changes.chains.items():
        direction = name.partition("-")[0]
        yield from (f"add rule {TABLE} {name} {text(statement, direction)}" for statement in content)
    yield from _elements("delete", changes.removed)
    yield from _elements("add", changes.added)
    yield from (f"delete chain {TABLE} {name}" for name in changes.removed_chains)
    yield from (f"delete set {TABLE} {name}" for name in changes.removed_sets)


def _elements(verb: str, elements: dict[str, list[str]]) -> Iterator[str]:
    for name, texts in elements.items():
        for start in range(0, len(texts), _AT_ONCE):
            yield f"{verb} element {TABLE} {name} {{ {', '.join(texts[start : start + _AT_ONCE])} }}"


def text(statement: Statement, direction: str) -> str:
    """Return a rule of nftables."""
    words = []
    ip = _IP.get(statement.version, "")
    peer = "daddr" if direction == EGRESS else "saddr"
    if statement.group:
        words.append(f"{ip} {peer} @{statement.group}")
    elif statement.ranges:
        words.append(f"{ip} {peer} {{ {', '.join(map(str, statement.ranges))} }}")
    elif statement.version:
        words.append(f"meta nfproto ipv{statement.version}")
    if statement.protocol:
        words.append(f"meta l4proto {statement.protocol}")
    if statement.ports:
        numbers = ", ".join(
            str(first) if first == last else f"{first}-{last}" for first, last in statement.ports
        )
        words.append(f"th dport {{ {numbers} }}")
    if statement.named:
        words.append(f"{ip} daddr . meta l4proto . th dport @{statement.named}")
    words.append(statement.verdict)
    if statement.origin:
        words.append(f'comment "{comment(statement.origin)}"')
    return " ".join(words)
