"""The sets of addresses that the rules of the mode ipvs look at, and how they are written. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

LOOP_BACK = "LOOP-BACK"
CLUSTER_IP = "CLUSTER-IP"
EXTERNAL_IP = "EXTERNAL-IP"
EXTERNAL_IP_LOCAL = "EXTERNAL-IP-LOCAL"
NO_LOCAL = "NO-LOCAL-ENDPOINTS"
FIREWALL = "LOAD-BALANCER-FW"
SOURCES = "LOAD-BALANCER-SOURCE-CIDR"
HEALTH_CHECK = "HEALTH-CHECK-NODE-PORT"
BOUND = "IPVS-IPS"
_PORTS = "bitmap:port range 0-65535"
_PLACE = "hash:ip,port"
TYPES = {
    LOOP_BACK: "hash:ip,port,ip",  # a pod that reaches itself
    CLUSTER_IP: _PLACE,
    EXTERNAL_IP: _PLACE,  # external, load balancers' and node ports' addresses, from which any pod may answer
    EXTERNAL_IP_LOCAL: _PLACE,  # those from which only pods of this node do
    NO_LOCAL: _PLACE,  # those of them for which this node has none
    FIREWALL: _PLACE,  # load balancers' addresses that only some may come in by
    SOURCES: "hash:ip,port,net",  # those some
    HEALTH_CHECK: _PORTS,
    BOUND: "hash:ip",  # the addresses on our link
}
PLACES = (CLUSTER_IP, EXTERNAL_IP, EXTERNAL_IP_LOCAL)  # one entry for each virtual server
_LARGEST = 1 << 20  # entries of a set; the kernel's own limit of 65,536 is less than Services there may be


class Entry(NamedTuple):
    """Something in a set."""

    set: str
    text: str


def name(of: str, family: int) -> str:
    """Return the name that a set has in the kernel, which takes 31 characters."""
    return f"KUBE-{'6-' if family == 6 else ''}{of}"[:31]


def at(ip: str, protocol: str, port: int) -> str:
    """Return where a port is, as an entry says it."""
    return f"{ip},{protocol}:{port}"


def network(text: str) -> str:
    """Return a range as the kernel prints it."""
    return text.removesuffix("/128" if ":" in text else "/32")


def creation(family: int) -> list[str]:
    """Return what makes the sets, where they are not there yet."""
    lines = []
    for of, kind in TYPES.items():
        options = "" if kind == _PORTS else f" family inet{'6' if family == 6 else ''} maxelem {_LARGEST}"
        lines.append(f"create {name(of, family)} {kind}{options}")
    return lines


def difference(family: int, removed: Iterable[Entry], added: Iterable[Entry]) -> str:
    """Return what ``ipset restore`` has to read."""
    lines = [f"add {name(entry.set, family)} {entry.text}" for entry in added]
    lines += [f"del {name(entry.set, family)} {entry.text}" for entry in removed]
    return "\n".join([*lines, ""]) if lines else ""


def parse(saved: str, family: int) -> set[Entry]:
    """Return the entries of our sets that ``ipset save`` printed."""
    known: Mapping[str, str] = {name(of, family): of for of in TYPES}
    entries = set()
    for line in saved.splitlines():
        verb, _, rest = line.partition(" ")
        set_name, _, text = rest.partition(" ")
        if verb == "add" and set_name in known:
            entries.add(Entry(known[set_name], text.split(" ")[0]))
    return entries


def destruction(saved: str, family: int) -> list[tuple[str, str]]:
    """Return the commands that remove our sets, of those that ``ipset save`` printed."""
    ours = {name(of, family) for of in TYPES}
    words = [line.split(" ") for line in saved.splitlines()]
    return [("destroy", word[1]) for word in words if word[0] == "create" and word[1] in ours]
