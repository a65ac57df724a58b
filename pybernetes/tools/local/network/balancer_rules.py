"""The kernel's rules for load balancers of a local cluster: which node a connection goes to. Pure.

A connection of this machine to a balancer's address gets a mark, which is the number of a node, and keeps it: whatever
becomes of the balancer, its packets go to that node. What leaves by the cluster's bridge for a balancer's address then gets
the node's link address instead of the one that nobody has. Packets stay as they are, so that nodes see the client's
address, and kube-proxy there knows what to do with the balancer's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from pybernetes.control_plane.cloud.local.machine import Balancer

FIRST, LAST = 200, 250  # the addresses of load balancers in a cluster's range; nodes have the lower ones
_TYPE = {"ip": "ipv4_addr", "ip6": "ipv6_addr"}
_MARK = 0x7079_0000  # ours, beside those that others use
_WAITING = "pybernetes-balancers"
NOBODY = "0a:70:00:00:00:00"  # the link address that the machine believes balancers to have


def pool(node_range: str) -> tuple[str, ...]:
    """Return the addresses that load balancers may have."""
    network = ipaddress.ip_network(node_range)
    return tuple(str(network[number]) for number in range(FIRST, LAST + 1))


def mark(node: str) -> int:
    """Return the mark of connections that go to a node."""
    return _MARK | ipaddress.ip_address(node).packed[-1]


def link_address(node: str) -> str:
    """Return the link address of a node, which follows from its address."""
    return ":".join(f"{byte:02x}" for byte in (0x0A, 0x70, *ipaddress.IPv4Address(node).packed))


def removal(table: str) -> str:
    """Return the script that removes all rules of a cluster, whether there are any or not."""
    return "".join(
        f"{verb} table {family} {table}\n" for family in ("ip", "ip6", "netdev") for verb in ("add", "delete")
    )


def script(
    table: str,
    bridge: str,
    node_range: str,
    balancers: Iterable[Balancer],
    stale: Iterable[str],
    node_range_v6: str = "",
) -> str:
    """Return the script that replaces all rules of a cluster at once; ``stale`` are balancers that are gone.

    Who was sent where is remembered across it.
    """
    balancers, stale = list(balancers), list(stale)
    ranges = [text for text in (node_range, node_range_v6) if text]
    lines = [line for text in ranges for line in _of_family(table, text, balancers, stale)]
    network = ipaddress.ip_network(node_range)
    machines = [str(network[number]) for number in range(2, FIRST)]
    known = ", ".join(f"{mark(node):#x} : {link_address(node)}" for node in machines)
    lines += [
        f"add table netdev {table}",
        f"delete table netdev {table}",
        f"add table netdev {table}",
        f"add map netdev {table} machines {{ type mark : ether_addr; elements = {{ {known} }} }}",
        f'add chain netdev {table} egress {{ type filter hook egress device "{bridge}" priority 0; policy accept; }}',
        *(
            f"add rule netdev {table} egress {_ours(text)} ether daddr set meta mark map @machines"
            for text in ranges
        ),
    ]
    return "\n".join(lines) + "\n"


def waiting_rules(node_ranges: Iterable[str]) -> str:
    """Return the script for a node: what arrives for a balancer before kube-proxy has rules for it waits for them.

    Nobody has the address: the node would look for its owner and then say that there is none, and what it took for the
    connection meanwhile would outlive kube-proxy's rules. Of a packet that is dropped nothing is kept, and it is sent again.
    """
    lines = []
    for text in node_ranges:
        table = f"{_family(text)} {_WAITING}"
        chain = "type filter hook forward priority filter + 10; policy accept;"  # after those that refuse
        lines += [f"add table {table}", f"delete table {table}", f"add table {table}"]
        lines += [
            f"add chain {table} forward {{ {chain} }}",
            f"add rule {table} forward {_ours(text)} counter drop",
        ]
    return "\n".join(lines) + "\n"


def _ours(node_range: str) -> str:
    """Return the match of packets to balancers of a range."""
    addresses = pool(node_range)
    return f"{_family(addresses[0])} daddr {addresses[0]}-{addresses[-1]}"


def _of_family(table: str, node_range: str, balancers: list[Balancer], stale: list[str]) -> list[str]:
    """Return the lines of one family: what it chooses nodes by."""
    ip = _family(node_range)
    table = f"{ip} {table}"
    lines = [
        f"add table {table}",
        f"add map {table} services {{ type {_TYPE[ip]} . inet_proto . inet_service : verdict; }}",
        f"add chain {table} output {{ type filter hook output priority mangle; policy accept; }}",
        f"add chain {table} balance",
        f"flush chain {table} output",
        f"flush chain {table} balance",
        f"flush map {table} services",
        f"add rule {table} output {_ours(node_range)} goto balance",
        # A connection stays with its node for as long as it lasts.
        f"add rule {table} balance ct mark and 0xffff0000 == {_MARK:#x} meta mark set ct mark accept",
        f"add rule {table} balance {ip} daddr . meta l4proto . th dport vmap @services",
        f"add rule {table} balance meta l4proto tcp reject with tcp reset",
        f"add rule {table} balance reject",
    ]
    for address in stale:
        if _family(address) == ip:
            name = _name(address)
            lines += [
                f"add chain {table} to-{name}",
                f"flush chain {table} to-{name}",
                f"delete chain {table} to-{name}",
            ]
            lines += [f"add map {table} {_clients(address)}", f"delete map {table} clients-{name}"]
    for balancer in balancers:
        if _family(balancer.address) == ip:
            lines += _balancer(table, ip, balancer)
    return lines


def _family(address: str) -> str:
    """Return how nftables calls the family of an address or a range."""
    return "ip6" if ":" in address else "ip"


def _name(address: str) -> str:
    return address.replace(".", "-").replace(":", "-")


def _clients(address: str) -> str:
    return f"clients-{_name(address)} {{ type {_TYPE[_family(address)]} : mark; flags dynamic,timeout; timeout 3h; size 65535; }}"


def _balancer(table: str, ip: str, balancer: Balancer) -> list[str]:
    """Return the lines of one balancer: its own chain, and the ports that lead to it."""
    name = _name(balancer.address)
    chain = f"to-{name}"
    lines = [
        f"add map {table} {_clients(balancer.address)}",
        f"add chain {table} {chain}",
        f"flush chain {table} {chain}",
    ]

    def rule(text: str) -> None:
        lines.append(f"add rule {table} {chain} {text}")

    if balancer.source_ranges:
        rule(f"{ip} saddr != {{ {', '.join(balancer.source_ranges)} }} drop")
    if balancer.nodes:
        marks = [f"{mark(node):#x}" for node in balancer.nodes]
        turn = f"numgen inc mod {len(marks)} map {{ {', '.join(f'{at} : {shown_mark}' for at, shown_mark in enumerate(marks))} }}"
        if balancer.affinity_seconds:
            clients = f"@clients-{name}"
            rule(f"ct mark set {ip} saddr map {clients}")
            rule(f"ct mark != {{ {', '.join(marks)} }} ct mark set {turn}")
            rule(f"update {clients} {{ {ip} saddr timeout {balancer.affinity_seconds}s : ct mark }}")
        else:
            rule(f"ct mark set {turn}")
        rule("meta mark set ct mark accept")
    else:
        rule("meta l4proto tcp reject with tcp reset")
        rule("reject")
    ports = ", ".join(
        f"{balancer.address} . {protocol.lower()} . {port} : goto {chain}"
        for protocol, port in dict.fromkeys(balancer.ports)
    )
    if ports:
        lines.append(f"add element {table} services {{ {ports} }}")
    return lines
