"""The rules of one ServicePort in the mode iptables. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from pybernetes.node.proxy.backend import Settings
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.iptables.chains import (
    FIREWALL,
    HEALTH_CHECKS,
    MARK,
    NODE_PORTS,
    REFUSED,
    REFUSED_EXTERNAL,
    SERVICES,
    SharedChain,
    chain_name,
)
from pybernetes.node.proxy.service_port import ServicePort


class Rules(NamedTuple):
    """What one ServicePort needs: own chains in the table nat, lines in shared chains, pods that may reach themselves."""

    own: dict[str, tuple[str, ...]]
    shared: dict[SharedChain, tuple[str, ...]]
    hairpins: tuple[str, ...]


@lru_cache(maxsize=4096)
def _probability(count: int) -> str:
    return f"{1 / count:.10f}"


# Lines that send the traffic of a ServicePort on, given the targets of a traffic policy and whether it is Local.
Spread = Callable[[ServicePort, tuple[Target, ...], bool], list[str]]
NO_RULES = Rules({}, {}, ())


def rules(service_port: ServicePort, settings: Settings, spread: Spread | None = None) -> Rules:
    """Return the rules of one ServicePort. With another ``spread``, affinity and hairpins are its business too."""
    own: dict[str, tuple[str, ...]] = {}
    shared: dict[SharedChain, list[str]] = {}
    name, protocol = service_port.name, service_port.protocol
    cluster, local, external, firewall = (
        chain_name(prefix, name, protocol) for prefix in ("SVC", "SVL", "EXT", "FW")
    )

    def capture(chain: SharedChain, address: str, comment: str, target: str) -> None:
        shared.setdefault(chain, []).append(
            f'-d {address} -p {protocol} -m comment --comment "{comment}" -m {protocol} --dport {service_port.port} -j {target}'
        )

    refusal = "REJECT" if not service_port.exists else "DROP"
    lack = f"{name} has no endpoints" if not service_port.exists else f"{name} has no local endpoints"
    restricted = bool(service_port.exists and service_port.load_balancer_ips and service_port.source_ranges)
    if service_port.internal_targets:
        capture(
            SERVICES,
            service_port.cluster_ip,
            f"{name} cluster IP",
            local if service_port.internal_local else cluster,
        )
    else:
        capture(REFUSED, service_port.cluster_ip, lack, refusal)
    for addresses, what, entry in (
        (service_port.external_ips, "external IP", external),
        (service_port.load_balancer_ips, "loadbalancer IP", firewall if restricted else external),
    ):
        for address in addresses:
            if service_port.exists:
                capture(SERVICES, address, f"{name} {what}", entry)
            if not service_port.external_targets:
                capture(REFUSED_EXTERNAL, address, lack, refusal)
    if restricted:
        for address in service_port.load_balancer_ips:
            capture(FIREWALL, address, f"{name} traffic not accepted by {firewall}", "DROP")
    if service_port.node_port:
        accepted, refused = _node_port(service_port, external, lack, refusal)
        if service_port.exists:
            shared[NODE_PORTS] = [accepted]
        if not service_port.external_targets:
            shared.setdefault(REFUSED_EXTERNAL, []).append(refused)
    if service_port.health_check_port:
        comment = f"{name} health check node port"
        shared[HEALTH_CHECKS] = [
            f'-p tcp -m comment --comment "{comment}" -m tcp --dport {service_port.health_check_port} -j ACCEPT'
        ]

    if service_port.exists and service_port.external:
        own[external] = _external_chain(service_port, settings, cluster, local)
    if restricted:
        own[firewall] = _firewall_chain(service_port, settings, external)
    masquerade = _masquerade(service_port, settings)
    for chain, targets, internal in (
        (cluster, service_port.cluster, not service_port.internal_local),
        (local, service_port.local, service_port.internal_local),
    ):
        if targets:
            head = masquerade if internal else ()
            lines = (
                spread(service_port, targets, chain == local) if spread else _spread(service_port, targets)
            )
            own[chain] = (*head, *lines)
            if spread:
                # The ports of the process are for redirected traffic only, not for clients.
                port = lines[-1].rpartition(" ")[2]
                shared.setdefault(REFUSED_EXTERNAL, []).append(
                    f"-p {protocol} -m {protocol} --dport {port} -m conntrack ! --ctstate DNAT -j REJECT"
                )
    if service_port.affinity_seconds and not spread:
        for target in service_port.reachable:
            chain = chain_name("SEP", name, protocol, str(target))
            own[chain] = (
                f"-p {protocol} -m recent --name {chain} --set -m {protocol} -j DNAT --to-destination {target}",
            )
    hairpins = (
        () if spread else tuple(dict.fromkeys(target.ip for target in service_port.reachable if target.local))
    )
    return Rules(own, {chain: tuple(lines) for chain, lines in shared.items()}, hairpins)


def _node_port(service_port: ServicePort, external: str, lack: str, refusal: str) -> tuple[str, str]:
    """Return the rule that leads a NodePort to the chain for external traffic, and the one that refuses it."""
    protocol = service_port.protocol
    match = f'-p {protocol} -m comment --comment "{{}}" -m {protocol} --dport {service_port.node_port}'
    return (
        f"{match.format(service_port.name)} -j {external}",
        f"{match.format(lack)} -m addrtype --dst-type LOCAL -j {refusal}",
    )


def _spread(service_port: ServicePort, targets: tuple[Target, ...]) -> list[str]:
    """Pick one target at random; with affinity, the one that the client had before."""
    protocol, count = service_port.protocol, len(targets)
    lines = []
    if service_port.affinity_seconds:
        jumps = [f"-j {chain_name('SEP', service_port.name, protocol, str(target))}" for target in targets]
        lines = [
            f"-m recent --name {jump[3:]} --rcheck --seconds {service_port.affinity_seconds} --reap {jump}"
            for jump in jumps
        ]
    else:
        jumps = [f"-p {protocol} -m {protocol} -j DNAT --to-destination {target}" for target in targets]
    for position, jump in enumerate(jumps):
        chance = (
            f"-m statistic --mode random --probability {_probability(count - position)} "
            if position < count - 1
            else ""
        )
        match, _, action = jump.rpartition("-j ")
        lines.append(f"{match}{chance}-j {action}")
    return lines


def _masquerade(service_port: ServicePort, settings: Settings) -> tuple[str, ...]:
    """Masquerade traffic to the cluster IP that comes from elsewhere, so that answers come back by this node."""
    if settings.masquerade_all:
        match = ""
    elif settings.local.known(service_port.family):
        match = match_local(settings, service_port.family, negated=True)
    else:
        return ()
    where = f"-d {service_port.cluster_ip} -p {service_port.protocol} -m {service_port.protocol} --dport {service_port.port}"
    return (f'{match}{where} -m comment --comment "{service_port.name} cluster IP" -j {MARK}',)


def match_local(settings: Settings, family: int, *, negated: bool = False) -> str:
    """Match traffic of the node's own pods; an empty text if it cannot be distinguished."""
    if not settings.local.known(family):
        return ""
    source = settings.local.range(family)
    match = f"-i {settings.local.interface} " if settings.local.interface else f"-s {source} "
    return f"! {match}" if negated else match


def _external_chain(
    service_port: ServicePort, settings: Settings, cluster: str, local: str
) -> tuple[str, ...]:
    """Send external traffic on; with the policy Local, traffic of this node and its pods may still go anywhere."""
    comment = f'-m comment --comment "{{}} {service_port.name} external destinations"'
    if not service_port.external_local:
        return (f"{comment.format('masquerade traffic for')} -j {MARK}", f"-j {cluster}")
    lines = []
    if service_port.cluster:
        if settings.local.known(service_port.family):
            source = match_local(settings, service_port.family)
            lines.append(f"{source}{comment.format('pod traffic for')} -j {cluster}")
        from_node = "-m addrtype --src-type LOCAL"
        lines.append(f"{comment.format('masquerade LOCAL traffic for')} {from_node} -j {MARK}")
        lines.append(f"{comment.format('route LOCAL traffic for')} {from_node} -j {cluster}")
    if service_port.local:
        lines.append(f"-j {local}")
    return tuple(lines)


def _firewall_chain(service_port: ServicePort, settings: Settings, external: str) -> tuple[str, ...]:
    """Accept the allowed sources; the others fall through and are dropped in KUBE-PROXY-FIREWALL."""
    comment = f'-m comment --comment "{service_port.name} loadbalancer IP"'
    lines = [f"-s {source} {comment} -j {external}" for source in service_port.source_ranges]
    node = settings.node_address(service_port.family)
    if node and any(
        ipaddress.ip_address(node) in ipaddress.ip_network(source) for source in service_port.source_ranges
    ):
        # Packets of the node itself carry this address as their source where the node has it too.
        lines += [f"-s {address} {comment} -j {external}" for address in service_port.load_balancer_ips]
    return tuple(lines)
