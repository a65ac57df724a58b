"""The chains that all Services share: their names, what they hold by themselves, where the kernel enters them. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from pybernetes.node.proxy.backend import Settings
from pybernetes.node.proxy.node_port_addresses import node_port_ips


class SharedChain(NamedTuple):
    """A chain in which every ServicePort may have lines."""

    table: str
    name: str


SERVICES = SharedChain("nat", "KUBE-SERVICES")
NODE_PORTS = SharedChain("nat", "KUBE-NODEPORTS")
HAIRPIN = SharedChain("nat", "KUBE-HAIRPIN")
REFUSED = SharedChain("filter", "KUBE-SERVICES")
REFUSED_EXTERNAL = SharedChain("filter", "KUBE-EXTERNAL-SERVICES")
FIREWALL = SharedChain("filter", "KUBE-PROXY-FIREWALL")
HEALTH_CHECKS = SharedChain("filter", "KUBE-NODEPORTS")
SHARED = (SERVICES, NODE_PORTS, HAIRPIN, REFUSED, REFUSED_EXTERNAL, FIREWALL, HEALTH_CHECKS)
MARK = "KUBE-MARK-MASQ"


class Jump(NamedTuple):
    """Where one of our chains is entered."""

    table: str
    base: str  # a chain of the kernel
    condition: str
    chain: str
    comment: str

    def __str__(self) -> str:
        comment = f'-m comment --comment "{self.comment}" ' if self.comment else ""
        return f"{self.base} {self.condition}{comment}-j {self.chain}"


_NEW = "-m conntrack --ctstate NEW "
JUMPS = (
    Jump("filter", "INPUT", _NEW, "KUBE-EXTERNAL-SERVICES", "kubernetes externally-visible service portals"),
    Jump(
        "filter", "FORWARD", _NEW, "KUBE-EXTERNAL-SERVICES", "kubernetes externally-visible service portals"
    ),
    Jump("filter", "INPUT", "", "KUBE-NODEPORTS", "kubernetes health check service ports"),
    Jump("filter", "FORWARD", _NEW, "KUBE-SERVICES", "kubernetes service portals"),
    Jump("filter", "OUTPUT", _NEW, "KUBE-SERVICES", "kubernetes service portals"),
    Jump("filter", "FORWARD", "", "KUBE-FORWARD", "kubernetes forwarding rules"),
    Jump("filter", "INPUT", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    Jump("filter", "OUTPUT", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    Jump("filter", "FORWARD", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    Jump("filter", "INPUT", "", "KUBE-FIREWALL", ""),
    Jump("filter", "OUTPUT", "", "KUBE-FIREWALL", ""),
    Jump("nat", "OUTPUT", "", "KUBE-SERVICES", "kubernetes service portals"),
    Jump("nat", "PREROUTING", "", "KUBE-SERVICES", "kubernetes service portals"),
    Jump("nat", "POSTROUTING", "", "KUBE-POSTROUTING", "kubernetes postrouting rules"),
)


def chain_name(prefix: str, *parts: str) -> str:
    """Return a name that fits into the kernel's limit, made as upstream makes it."""
    digest = hashlib.sha256("".join(parts).encode()).digest()
    return f"KUBE-{prefix}-{base64.b32encode(digest)[:16].decode()}"


def fixed_chains(settings: Settings, family: int) -> dict[SharedChain, tuple[str, ...]]:
    """Return the chains in which no ServicePort has lines."""
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
        SharedChain("filter", "KUBE-FORWARD"): tuple(forward),
        SharedChain("filter", "KUBE-FIREWALL"): martians,
        SharedChain("nat", MARK): (f"-j MARK --or-mark {mark}",),
        SharedChain("nat", "KUBE-POSTROUTING"): (
            f"-m conntrack --ctstate DNAT -j {HAIRPIN.name}",
            f"-m mark ! --mark {mark}/{mark} -j RETURN",
            f"-j MARK --xor-mark {mark}",
            '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
        ),
    }


def node_port_jumps(settings: Settings, family: int, own_addresses: Sequence[str]) -> list[str]:
    """Return the end of KUBE-SERVICES: what is not for the address of a Service may be for a node port."""
    comment = (
        '-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain"'
    )
    addresses = node_port_ips(settings.node_port_addresses or ("all",), settings.node, family, own_addresses)
    loopback = family == 4 and settings.localhost_node_ports
    if addresses is None:
        other = "" if loopback else f"! -d {'127.0.0.0/8' if family == 4 else '::1/128'} "
        return [f"{other}{comment} -m addrtype --dst-type LOCAL -j {NODE_PORTS.name}"]
    return [
        f"-d {address} {comment} -j {NODE_PORTS.name}"
        for address in addresses
        if loopback or not (address.startswith("127.") or address == "::1")
    ]


def hairpin(ip: str) -> str:
    """Return the rule without which a pod that reaches itself by a Service would answer itself directly."""
    return f"-s {ip} -d {ip} -j MASQUERADE --random-fully"
