"""The rules of the mode iptables: which chains and lines a portal needs. Pure."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pybernetes.node.proxy.backend import Settings, node_port_ips
from pybernetes.node.proxy.service_port import ServicePort, Target

SharedChain = tuple[str, str]  # table and chain
Jump = tuple[str, str, str, str, str]

SERVICES: SharedChain = ("nat", "KUBE-SERVICES")
NODE_PORTS: SharedChain = ("nat", "KUBE-NODEPORTS")
HAIRPIN: SharedChain = ("nat", "KUBE-HAIRPIN")
REFUSED: SharedChain = ("filter", "KUBE-SERVICES")
REFUSED_OUTSIDE: SharedChain = ("filter", "KUBE-EXTERNAL-SERVICES")
FIREWALL: SharedChain = ("filter", "KUBE-PROXY-FIREWALL")
HEALTH: SharedChain = ("filter", "KUBE-NODEPORTS")
SHARED = (SERVICES, NODE_PORTS, HAIRPIN, REFUSED, REFUSED_OUTSIDE, FIREWALL, HEALTH)
MARK = "KUBE-MARK-MASQ"

# Where our chains are entered: table, chain of the kernel, condition, our chain, what it is for.
_NEW = "-m conntrack --ctstate NEW "
JUMPS: tuple[Jump, ...] = (
    ("filter", "INPUT", _NEW, "KUBE-EXTERNAL-SERVICES", "kubernetes externally-visible service portals"),
    ("filter", "FORWARD", _NEW, "KUBE-EXTERNAL-SERVICES", "kubernetes externally-visible service portals"),
    ("filter", "INPUT", "", "KUBE-NODEPORTS", "kubernetes health check service ports"),
    ("filter", "FORWARD", _NEW, "KUBE-SERVICES", "kubernetes service portals"),
    ("filter", "OUTPUT", _NEW, "KUBE-SERVICES", "kubernetes service portals"),
    ("filter", "FORWARD", "", "KUBE-FORWARD", "kubernetes forwarding rules"),
    ("filter", "INPUT", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    ("filter", "OUTPUT", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    ("filter", "FORWARD", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    ("filter", "INPUT", "", "KUBE-FIREWALL", ""),
    ("filter", "OUTPUT", "", "KUBE-FIREWALL", ""),
    ("nat", "OUTPUT", "", "KUBE-SERVICES", "kubernetes service portals"),
    ("nat", "PREROUTING", "", "KUBE-SERVICES", "kubernetes service portals"),
    ("nat", "POSTROUTING", "", "KUBE-POSTROUTING", "kubernetes postrouting rules"),
)


class Rules(NamedTuple):
    """What one portal needs: chains of its own in the table nat, lines in shared chains, pods that reach themselves."""

    own: dict[str, tuple[str, ...]]
    shared: dict[SharedChain, tuple[str, ...]]
    hairpins: tuple[str, ...]


def chain_name(prefix: str, *parts: str) -> str:
    """A name that fits into the kernel's limit, made as upstream makes it."""
    digest = hashlib.sha256("".join(parts).encode()).digest()
    return f"KUBE-{prefix}-{base64.b32encode(digest)[:16].decode()}"


@lru_cache(maxsize=4096)
def _probability(count: int) -> str:
    return f"{1 / count:.10f}"


# How traffic of one policy goes on: by a portal, the policy's targets and whether it is Local.
Spread = Callable[[ServicePort, tuple[Target, ...], bool], list[str]]


def rules(portal: ServicePort, settings: Settings, spread: Spread | None = None) -> Rules:
    """The rules of one portal. Whoever has another way to ``spread`` traffic sees to affinity and hairpins too."""
    own: dict[str, tuple[str, ...]] = {}
    shared: dict[SharedChain, list[str]] = {}
    name, protocol = portal.name, portal.protocol
    cluster, local, external, firewall = (
        chain_name(prefix, name, protocol) for prefix in ("SVC", "SVL", "EXT", "FW")
    )

    def capture(chain: SharedChain, address: str, comment: str, target: str) -> None:
        shared.setdefault(chain, []).append(
            f'-d {address} -p {protocol} -m comment --comment "{comment}" -m {protocol} --dport {portal.port} -j {target}'
        )

    refusal = "REJECT" if not portal.exists else "DROP"
    lack = f"{name} has no endpoints" if not portal.exists else f"{name} has no local endpoints"
    guarded = bool(portal.exists and portal.load_balancer_ips and portal.source_ranges)
    if portal.internal_targets:
        capture(
            SERVICES, portal.cluster_ip, f"{name} cluster IP", local if portal.internal_local else cluster
        )
    else:
        capture(REFUSED, portal.cluster_ip, lack, refusal)
    for addresses, what, entry in (
        (portal.external_ips, "external IP", external),
        (portal.load_balancer_ips, "loadbalancer IP", firewall if guarded else external),
    ):
        for address in addresses:
            if portal.exists:
                capture(SERVICES, address, f"{name} {what}", entry)
            if not portal.external_targets:
                capture(REFUSED_OUTSIDE, address, lack, refusal)
    if guarded:
        for address in portal.load_balancer_ips:
            capture(FIREWALL, address, f"{name} traffic not accepted by {firewall}", "DROP")
    if portal.node_port:
        match = f'-p {protocol} -m comment --comment "{{}}" -m {protocol} --dport {portal.node_port}'
        if portal.exists:
            shared[NODE_PORTS] = [f"{match.format(name)} -j {external}"]
        if not portal.external_targets:
            shared.setdefault(REFUSED_OUTSIDE, []).append(
                f"{match.format(lack)} -m addrtype --dst-type LOCAL -j {refusal}"
            )
    if portal.health_check_port:
        comment = f"{name} health check node port"
        shared[HEALTH] = [
            f'-p tcp -m comment --comment "{comment}" -m tcp --dport {portal.health_check_port} -j ACCEPT'
        ]

    if portal.exists and portal.external:
        own[external] = _external_chain(portal, settings, cluster, local)
    if guarded:
        own[firewall] = _firewall_chain(portal, settings, external)
    masquerade = _masquerade(portal, settings)
    for chain, targets, internal in (
        (cluster, portal.cluster, not portal.internal_local),
        (local, portal.local, portal.internal_local),
    ):
        if targets:
            head = masquerade if internal else ()
            lines = spread(portal, targets, chain == local) if spread else _spread(portal, targets)
            own[chain] = (*head, *lines)
            if spread:
                # Its own ports are for traffic that was sent on to them, not for callers.
                port = lines[-1].rpartition(" ")[2]
                shared.setdefault(REFUSED_OUTSIDE, []).append(
                    f"-p {protocol} -m {protocol} --dport {port} -m conntrack ! --ctstate DNAT -j REJECT"
                )
    if portal.affinity_seconds and not spread:
        for target in portal.reachable:
            chain = chain_name("SEP", name, protocol, str(target))
            own[chain] = (
                f"-p {protocol} -m recent --name {chain} --set -m {protocol} -j DNAT --to-destination {target}",
            )
    hairpins = () if spread else tuple(dict.fromkeys(each.ip for each in portal.reachable if each.local))
    return Rules(own, {chain: tuple(lines) for chain, lines in shared.items()}, hairpins)


def _spread(portal: ServicePort, targets: tuple[Target, ...]) -> list[str]:
    """One target at random; with affinity, the one that a client had before."""
    protocol, count = portal.protocol, len(targets)
    lines = []
    if portal.affinity_seconds:
        jumps = [f"-j {chain_name('SEP', portal.name, protocol, str(each))}" for each in targets]
        lines = [
            f"-m recent --name {jump[3:]} --rcheck --seconds {portal.affinity_seconds} --reap {jump}"
            for jump in jumps
        ]
    else:
        jumps = [f"-p {protocol} -m {protocol} -j DNAT --to-destination {each}" for each in targets]
    for position, jump in enumerate(jumps):
        chance = (
            f"-m statistic --mode random --probability {_probability(count - position)} "
            if position < count - 1
            else ""
        )
        match, _, action = jump.rpartition("-j ")
        lines.append(f"{match}{chance}-j {action}")
    return lines


def _masquerade(portal: ServicePort, settings: Settings) -> tuple[str, ...]:
    """Traffic to the cluster address that comes from elsewhere must come back by this node."""
    if settings.masquerade_all:
        match = ""
    elif settings.local.known(portal.family):
        match = _not_local(settings, portal.family)
    else:
        return ()
    where = f"-d {portal.cluster_ip} -p {portal.protocol} -m {portal.protocol} --dport {portal.port}"
    return (f'{match}{where} -m comment --comment "{portal.name} cluster IP" -j {MARK}',)


def _local(settings: Settings, family: int) -> str:
    if settings.local.interface:
        return f"-i {settings.local.interface} "
    return f"-s {settings.local.range(family)} "


def _not_local(settings: Settings, family: int) -> str:
    return f"! {_local(settings, family)}"


def _external_chain(portal: ServicePort, settings: Settings, cluster: str, local: str) -> tuple[str, ...]:
    """Traffic from outside; with the policy Local, that of this node and its pods goes anywhere still."""
    comment = f'-m comment --comment "{{}} {portal.name} external destinations"'
    if not portal.external_local:
        return (f"{comment.format('masquerade traffic for')} -j {MARK}", f"-j {cluster}")
    lines = []
    if portal.cluster:
        if settings.local.known(portal.family):
            source = _local(settings, portal.family)
            lines.append(f"{source}{comment.format('pod traffic for')} -j {cluster}")
        own = "-m addrtype --src-type LOCAL"
        lines.append(f"{comment.format('masquerade LOCAL traffic for')} {own} -j {MARK}")
        lines.append(f"{comment.format('route LOCAL traffic for')} {own} -j {cluster}")
    if portal.local:
        lines.append(f"-j {local}")
    return tuple(lines)


def _firewall_chain(portal: ServicePort, settings: Settings, external: str) -> tuple[str, ...]:
    """Lets sources in that may come in; the others fall through and are dropped in KUBE-PROXY-FIREWALL."""
    comment = f'-m comment --comment "{portal.name} loadbalancer IP"'
    lines = [f"-s {each} {comment} -j {external}" for each in portal.source_ranges]
    own = settings.node_address(portal.family)
    if own and any(ipaddress.ip_address(own) in ipaddress.ip_network(each) for each in portal.source_ranges):
        # Where the address is also one of the node's own, its packets carry it as their source.
        lines += [f"-s {each} {comment} -j {external}" for each in portal.load_balancer_ips]
    return tuple(lines)


def fixed_chains(settings: Settings, family: int) -> dict[SharedChain, tuple[str, ...]]:
    """The chains that no portal has a part in."""
    mark = settings.mark
    forward = [
        f'-m comment --comment "kubernetes forwarding rules" -m mark --mark {mark}/{mark} -j ACCEPT',
        '-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ]
    if not settings.tcp_be_liberal:
        forward.insert(0, "-m conntrack --ctstate INVALID -j DROP")
    martians: tuple[str, ...] = ()
    if family == 4 and settings.localhost_node_ports:
        martians = (
            '! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" '
            "-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP",
        )
    return {
        ("filter", "KUBE-FORWARD"): tuple(forward),
        ("filter", "KUBE-FIREWALL"): martians,
        ("nat", MARK): (f"-j MARK --or-mark {mark}",),
        ("nat", "KUBE-POSTROUTING"): (
            f"-m conntrack --ctstate DNAT -j {HAIRPIN[1]}",
            f"-m mark ! --mark {mark}/{mark} -j RETURN",
            f"-j MARK --xor-mark {mark}",
            '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
        ),
    }


def node_port_entries(settings: Settings, family: int, own: Sequence[str]) -> list[str]:
    """The end of KUBE-SERVICES: what is not for a Service's address may be for a node port."""
    comment = (
        '-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain"'
    )
    addresses = node_port_ips(settings.node_port_addresses or ("all",), settings.node, family, own)
    loopback = family == 4 and settings.localhost_node_ports
    if addresses is None:
        but = "" if loopback else f"! -d {'127.0.0.0/8' if family == 4 else '::1/128'} "
        return [f"{but}{comment} -m addrtype --dst-type LOCAL -j {NODE_PORTS[1]}"]
    return [
        f"-d {each} {comment} -j {NODE_PORTS[1]}"
        for each in addresses
        if loopback or not (each.startswith("127.") or each == "::1")
    ]


def hairpin(ip: str) -> str:
    """A pod that reaches itself by a Service would answer itself directly without this."""
    return f"-s {ip} -d {ip} -j MASQUERADE --random-fully"


def jump(each: Jump) -> str:
    """The rule by which one of our chains is entered."""
    _, base, condition, chain, comment = each
    said = f'-m comment --comment "{comment}" ' if comment else ""
    return f"{base} {condition}{said}-j {chain}"
