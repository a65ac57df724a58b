"""The table of the mode nftables without any ServicePort. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from pybernetes.node.proxy.backend import Settings

TABLE = "kube-proxy"
CLUSTER_IPS, SERVICE_IPS, NODE_PORTS = "cluster-ips", "service-ips", "service-nodeports"
REFUSED, REFUSED_NODE_PORTS = "no-endpoint-services", "no-endpoint-nodeports"
FIREWALL, HAIRPINS, NODE_PORT_IPS = "firewall-ips", "hairpin-connections", "nodeport-ips"

# The kernel's hooks: name, type, hook, priority.
HOOKS = (
    ("filter-prerouting-pre-dnat", "filter", "prerouting", -110),
    ("filter-output-pre-dnat", "filter", "output", -110),
    ("filter-input", "filter", "input", 0),
    ("filter-forward", "filter", "forward", 0),
    ("filter-output", "filter", "output", 0),
    ("nat-prerouting", "nat", "prerouting", -100),
    ("nat-output", "nat", "output", -100),
    ("nat-postrouting", "nat", "postrouting", 100),
)
# Where our chains are entered.
JUMPS = (
    ("filter-input", "ct state new jump nodeport-endpoints-check"),
    ("filter-input", "ct state new jump service-endpoints-check"),
    ("filter-forward", "ct state new jump service-endpoints-check"),
    ("filter-output", "ct state new jump service-endpoints-check"),
    ("filter-prerouting-pre-dnat", "ct state new jump firewall-check"),
    ("filter-output-pre-dnat", "ct state new jump firewall-check"),
    ("nat-output", "jump services"),
    ("nat-prerouting", "jump services"),
    ("nat-postrouting", "jump masquerading"),
    ("filter-forward", "ct state new jump cluster-ips-check"),
    ("filter-output", "ct state new jump cluster-ips-check"),
)
_CHAINS = (
    "services", "masquerading", "service-endpoints-check", "nodeport-endpoints-check", "firewall-check",
    "cluster-ips-check", "reject-chain",
)  # fmt: skip


def ip_keyword(family: int) -> str:
    """Return the word for an address family."""
    return "ip" if family == 4 else "ip6"


def address_type(family: int) -> str:
    """Return the type of an address in sets and maps."""
    return "ipv4_addr" if family == 4 else "ipv6_addr"


def set_mark(settings: Settings) -> str:
    """Return the statement that marks a packet to be masqueraded."""
    return f"mark set mark or {settings.mark}"


def match_local(settings: Settings, family: int, *, negated: bool = False) -> str:
    """Return the match of traffic of this node's pods, or of all other traffic."""
    operator = "!= " if negated else ""
    if settings.local.interface:
        return f'iifname {operator}"{settings.local.interface.replace("+", "*")}"'
    return f"{ip_keyword(family)} saddr {operator}{settings.local.range(family)}"


def base_table(settings: Settings, family: int, addresses: Sequence[str] | None) -> Iterator[str]:
    """Yield the table without any ServicePort; ``addresses`` are those of node ports, None for all."""
    ip, address, head = ip_keyword(family), address_type(family), f"{ip_keyword(family)} {TABLE}"
    yield f'add table {head} {{ comment "rules for kube-proxy" ; }}'
    for name, kind, hook, priority in HOOKS:
        yield f"add chain {head} {name} {{ type {kind} hook {hook} priority {priority} ; }}"
    for name in _CHAINS:
        yield f"add chain {head} {name}"
    yield f"add set {head} {CLUSTER_IPS} {{ type {address} ; }}"
    yield f"add set {head} {HAIRPINS} {{ type {address} . {address} . inet_proto . inet_service ; }}"
    for name in (SERVICE_IPS, REFUSED, FIREWALL):
        yield f"add map {head} {name} {{ type {address} . inet_proto . inet_service : verdict ; }}"
    for name in (NODE_PORTS, REFUSED_NODE_PORTS):
        yield f"add map {head} {name} {{ type inet_proto . inet_service : verdict ; }}"
    loopback = "127.0.0.0/8" if family == 4 else "::1"
    node_port = f"fib daddr type local {ip} daddr != {loopback}"
    if addresses is not None:
        yield f"add set {head} {NODE_PORT_IPS} {{ type {address} ; }}"
        chosen = [text for text in addresses if not ipaddress.ip_address(text).is_loopback]
        if chosen:
            yield f"add element {head} {NODE_PORT_IPS} {{ {', '.join(dict.fromkeys(chosen))} }}"
        node_port = f"{ip} daddr @{NODE_PORT_IPS}"
    for chain, rule in JUMPS:
        yield f"add rule {head} {chain} {rule}"
    if not settings.tcp_be_liberal:
        yield f"insert rule {head} filter-forward ct state invalid drop"
    service = f"{ip} daddr . meta l4proto . th dport"
    for chain, rule in (
        ("reject-chain", "reject"),
        ("service-endpoints-check", f"{service} vmap @{REFUSED}"),
        ("nodeport-endpoints-check", f"{node_port} meta l4proto . th dport vmap @{REFUSED_NODE_PORTS}"),
        ("firewall-check", f"{service} vmap @{FIREWALL}"),
        ("cluster-ips-check", f"{ip} daddr @{CLUSTER_IPS} reject"),
        *(
            ("cluster-ips-check", f"{ip} daddr {service_range} drop")
            for service_range in settings.service_ranges
            if ipaddress.ip_network(service_range).version == family
        ),
        ("masquerading",
         f"mark and {settings.mark} != 0 mark set mark xor {settings.mark} masquerade fully-random"),
        ("masquerading",
         f"ct status dnat {ip} saddr . {ip} daddr . meta l4proto . th dport @{HAIRPINS} masquerade fully-random"),
        *(("services", rule) for rule in _masquerade(settings, family)),
        ("services", f"{service} vmap @{SERVICE_IPS}"),
        ("services", f"{node_port} meta l4proto . th dport vmap @{NODE_PORTS}"),
    ):  # fmt: skip
        yield f"add rule {head} {chain} {rule}"


def _masquerade(settings: Settings, family: int) -> Iterator[str]:
    """Masquerade traffic to cluster IPs that comes from elsewhere, so that answers come back by this node."""
    match = f"{ip_keyword(family)} daddr @{CLUSTER_IPS}"
    if settings.masquerade_all:
        yield f"{match} {set_mark(settings)}"
    elif settings.local.known(family):
        yield f"{match} {match_local(settings, family, negated=True)} {set_mark(settings)}"
