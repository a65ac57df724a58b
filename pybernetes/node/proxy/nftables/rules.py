"""The rules of one ServicePort in the mode nftables. Pure."""

from __future__ import annotations

import hashlib
import ipaddress
from typing import NamedTuple

from pybernetes.node.proxy.backend import Settings
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.nftables.table import (
    CLUSTER_IPS,
    FIREWALL,
    HAIRPINS,
    NODE_PORTS,
    REFUSED,
    REFUSED_NODE_PORTS,
    SERVICE_IPS,
    address_type,
    ip_keyword,
    match_local,
    set_mark,
)
from pybernetes.node.proxy.service_port import ServicePort

_LONGEST_NAME = 200
# By the name of a set or map: its keys, with their values (empty in a set).
Elements = dict[str, dict[str, str]]


class Rules(NamedTuple):
    """What one ServicePort needs: own chains, own sets (name and definition), elements of shared sets and maps."""

    chains: dict[str, tuple[str, ...]]
    sets: dict[str, str]
    elements: Elements


NO_RULES = Rules({}, {}, {})


def chain_name(prefix: str, service_port: ServicePort, target: Target | None = None) -> str:
    """Return a unique name that tells people what a chain is for."""
    full = f"{service_port.service}/{service_port.protocol}/{service_port.port_name}"
    if target is not None:
        full += f"__{target.ip.replace(':', '.')}/{target.port}"
    digest = hashlib.sha256(full.encode()).hexdigest()[:8].upper()
    return f"{prefix}-{digest}-{full}"[:_LONGEST_NAME]


def rules(service_port: ServicePort, settings: Settings) -> Rules:
    """Return the rules of one ServicePort."""
    cluster, local, external, firewall = (
        chain_name(prefix, service_port) for prefix in ("service", "local", "external", "firewall")
    )
    chains: dict[str, tuple[str, ...]] = {}
    elements: Elements = {CLUSTER_IPS: {service_port.cluster_ip: ""}}

    def put(name: str, key: str, value: str) -> None:
        elements.setdefault(name, {})[key] = value

    def key(address: str) -> str:
        return f"{address} . {service_port.protocol} . {service_port.port}"

    refusal = "drop" if service_port.exists else "goto reject-chain"
    if service_port.internal_targets:
        put(
            SERVICE_IPS,
            key(service_port.cluster_ip),
            f"goto {local if service_port.internal_local else cluster}",
        )
    else:
        put(REFUSED, key(service_port.cluster_ip), refusal)
    for address in (*service_port.external_ips, *service_port.load_balancer_ips):
        if service_port.exists:
            put(SERVICE_IPS, key(address), f"goto {external}")
        if not service_port.external_targets:
            put(REFUSED, key(address), refusal)
    if service_port.node_port:
        number = f"{service_port.protocol} . {service_port.node_port}"
        if service_port.exists:
            put(NODE_PORTS, number, f"goto {external}")
        if not service_port.external_targets:
            put(REFUSED_NODE_PORTS, number, refusal)
    if service_port.load_balancer_ips and service_port.source_ranges:
        chains[firewall] = (_firewall(service_port, settings),)
        for address in service_port.load_balancer_ips:
            put(FIREWALL, key(address), f"goto {firewall}")
    if service_port.exists and service_port.external:
        chains[external] = _external(service_port, settings, cluster, local)
    for chain, targets in ((cluster, service_port.cluster), (local, service_port.local)):
        if targets:
            chains[chain] = _spread(service_port, targets)
    sets: dict[str, str] = {}
    for target in service_port.reachable:
        if service_port.affinity_seconds:
            chain, clients = _affinity_names(service_port, target)
            sets[clients] = (
                f"type {address_type(service_port.family)} ; flags dynamic,timeout ; timeout {service_port.affinity_seconds}s ;"
            )
            chains[chain] = (
                f"update @{clients} {{ {ip_keyword(service_port.family)} saddr }}",
                f"meta l4proto {service_port.protocol} dnat to {target}",
            )
        if target.local:
            put(HAIRPINS, f"{target.ip} . {target.ip} . {service_port.protocol} . {target.port}", "")
    return Rules(chains, sets, elements)


def _affinity_names(service_port: ServicePort, target: Target) -> tuple[str, str]:
    """Return the chain and the set of a target. The timeout of a set cannot be changed, so it is part of the name."""
    chain = chain_name("endpoint", service_port, target)
    return chain, f"affinity-{service_port.affinity_seconds}-{chain.removeprefix('endpoint-')}"


def _spread(service_port: ServicePort, targets: tuple[Target, ...]) -> tuple[str, ...]:
    count, ip = len(targets), ip_keyword(service_port.family)
    if service_port.affinity_seconds:
        names = [_affinity_names(service_port, target) for target in targets]
        known = [f"{ip} saddr @{clients} goto {chain}" for chain, clients in names]
        choices = ", ".join(f"{position} : goto {chain}" for position, (chain, _) in enumerate(names))
        return (*known, f"numgen random mod {count} vmap {{ {choices} }}")
    if count == 1:
        return (f"meta l4proto {service_port.protocol} dnat to {targets[0]}",)
    choices = ", ".join(
        f"{position} : {target.ip} . {target.port}" for position, target in enumerate(targets)
    )
    return (
        f"meta l4proto {service_port.protocol} dnat {ip} addr . port to "
        f"numgen random mod {count} map {{ {choices} }}",
    )


def _external(service_port: ServicePort, settings: Settings, cluster: str, local: str) -> tuple[str, ...]:
    """Send external traffic on; with the policy Local, traffic of this node and its pods may still go anywhere."""
    if not service_port.external_local:
        return (set_mark(settings), f"goto {cluster}")
    lines = []
    if service_port.cluster:
        if settings.local.known(service_port.family):
            lines.append(f"{match_local(settings, service_port.family)} goto {cluster}")
        lines.append(f"fib saddr type local {set_mark(settings)}")
        lines.append(f"fib saddr type local goto {cluster}")
    if service_port.local:
        lines.append(f"goto {local}")
    return tuple(lines)


def _firewall(service_port: ServicePort, settings: Settings) -> str:
    sources = list(service_port.source_ranges)
    node = settings.node_address(service_port.family)
    if node and any(ipaddress.ip_address(node) in ipaddress.ip_network(source) for source in sources):
        sources += service_port.load_balancer_ips
    networks = [ipaddress.ip_network(source) for source in sources]
    merged = ipaddress.collapse_addresses(networks)  # type: ignore[type-var]
    return f"{ip_keyword(service_port.family)} saddr != {{ {', '.join(map(str, merged))} }} drop"
