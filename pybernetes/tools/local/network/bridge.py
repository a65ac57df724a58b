"""The bridge of a local cluster on this machine, and the rules of its packet filter that belong to it."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pybernetes.tools.local.network.balancer_rules import link_address
from pybernetes.tools.local.network.host_balancers import remove_rules
from pybernetes.tools.local.network.network import (
    addresses,
    bridge_exists,
    bridge_name,
    gateway,
    run,
    set_address,
)

_PROGRAM = {4: "iptables", 6: "ip6tables"}
_FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")


@dataclass(frozen=True, slots=True)
class OpenPorts:
    """The ports of this machine that nodes and pods may reach."""

    tcp: tuple[int, ...] = ()
    udp: tuple[int, ...] = ()


def make_bridge(cluster: str, node_range: str, ports: OpenPorts, node_range_v6: str = "") -> None:
    """Make the bridge that joins this machine and the nodes, and the rules that let nodes pull images.

    Whether this machine forwards packets of IPv6 is left to its owner: it would no longer hear routers then.
    """
    name = bridge_name(cluster)
    if not bridge_exists(cluster):
        run("ip", "link", "add", name, "type", "bridge")
    # A link address of its own: otherwise it would have one of its nodes', and forget its neighbours when that goes.
    run("ip", "link", "set", name, "address", link_address(gateway(node_range)))
    set_address(("ip",), node_range, gateway(node_range), name)
    if node_range_v6:
        run("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=0")  # this machine's own links may have none
        set_address(("ip",), node_range_v6, gateway(node_range_v6), name)
    with contextlib.suppress(OSError):  # without IPv6 there is nothing to refuse
        # A node must not make itself this machine's router.
        Path(f"/proc/sys/net/ipv6/conf/{name}/accept_ra").write_text("0")
    run("ip", "link", "set", name, "up")
    for own_range in filter(None, (node_range, node_range_v6)):
        version = ipaddress.ip_network(own_range).version
        _write_rules(cluster, own_range, ports, _removal(version, cluster))
    with contextlib.suppress(OSError):  # where it must not be changed, nodes are alone with this machine
        if _FORWARDING.read_text().strip() == "0":
            _FORWARDING.write_text("1")  # until the last cluster goes: kernel_settings.py


def restore_rules(cluster: str, node_range: str, ports: OpenPorts) -> bool:
    """Write the rules of a range again if some of them are gone; return whether they were."""
    there = _removal(ipaddress.ip_network(node_range).version, cluster)
    if len(there) >= len(_rules(cluster, node_range, ports)) or not bridge_exists(cluster):
        return False
    _write_rules(cluster, node_range, ports, there)
    return True


def _write_rules(cluster: str, node_range: str, ports: OpenPorts, there: list[tuple[str, str]]) -> None:
    """Replace rules: what there is goes in the same step as what comes, so that nothing is open meanwhile."""
    added = [(table, f"{how} {' '.join(rule)}") for table, how, rule in _rules(cluster, node_range, ports)]
    _change_rules(ipaddress.ip_network(node_range).version, [*there, *added])


def comment(cluster: str) -> str:
    """Return what rules of this machine have as their comment."""
    return f"pybernetes {cluster}"


def _comment(cluster: str) -> str:
    return f'"{comment(cluster)}"'


def _rules(cluster: str, node_range: str, ports: OpenPorts) -> list[tuple[str, str, list[str]]]:
    """Return table, position and text of each rule: nodes reach everything outside, and nobody but this machine them.

    Of this machine they reach the open ports, and what its own packet filter lets everybody reach.
    """
    bridge, comment = bridge_name(cluster), ["-m", "comment", "--comment", _comment(cluster)]
    new = ["-m", "conntrack", "!", "--ctstate", "RELATED,ESTABLISHED,DNAT"]
    answers = ["-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"]
    inward = ["INPUT", "-i", bridge, "-d", gateway(node_range)]
    opened = [
        ("filter", "-I", [*inward, "-p", protocol, "--dport", str(port), *comment, "-j", "ACCEPT"])
        for protocol, numbers in (("tcp", ports.tcp), ("udp", ports.udp))
        for port in numbers
    ]
    return [
        # Not what stays on the bridge: where bridges ask the filter too, nodes send packets for pods by it.
        ("nat", "-A", ["POSTROUTING", "-s", node_range, "!", "-o", bridge, *comment, "-j", "MASQUERADE"]),
        ("filter", "-I", ["INPUT", "-i", bridge, *answers, *comment, "-j", "ACCEPT"]),
        *opened,
        ("filter", "-I", ["FORWARD", "!", "-i", bridge, "-o", bridge, *new, *comment, "-j", "DROP"]),
        # Last, for machines that forward nothing which nobody has asked for.
        ("filter", "-A", ["FORWARD", "-i", bridge, *comment, "-j", "ACCEPT"]),
        ("filter", "-A", ["FORWARD", "-o", bridge, *comment, "-j", "ACCEPT"]),
    ]


def let_through(cluster: str, other: str, ranges: Iterable[str]) -> bool:
    """Let nodes and pods of a cluster reach ranges of another's; return whether that was not so.

    The rules go with either cluster.
    """
    written = False
    comments = [word for name in (cluster, other) for word in ("-m", "comment", "--comment", _comment(name))]
    for text in ranges:
        version = ipaddress.ip_network(text).version
        rule = [
            "FORWARD",
            "-d",
            text,
            "-i",
            bridge_name(cluster),
            "-o",
            bridge_name(other),
            *comments,
            "-j",
            "ACCEPT",
        ]
        saved = run(f"{_PROGRAM[version]}-save", "-t", "filter")
        there = f"-A {' '.join(rule)}" in saved
        if not there:
            _change_rules(version, [("filter", f"-I {' '.join(rule)}")])
            written = True
    return written


def remove_bridge(cluster: str) -> None:
    """Remove the bridge and the rules; this machine forgets the connections that went over it."""
    name = bridge_name(cluster)
    if bridge_exists(cluster):  # nor are there rules without it
        ranges = [ipaddress.ip_interface(text).network for text in addresses("dev", name)]
        for version in (4, 6) if _has_v6(name) else (4,):
            _change_rules(version, _removal(version, cluster))
        remove_rules(name)
        run("ip", "link", "delete", name)
        for own_range in ranges:
            if not own_range.is_link_local:
                _forget_connections(own_range)


def _forget_connections(own_range: ipaddress.IPv4Network | ipaddress.IPv6Network) -> None:
    """Have this machine forget connections from and to a range: the next cluster that has it would meet their rewriting."""
    for side in ("--src", "--dst"):
        with contextlib.suppress(OSError):  # there were none, or the program is missing
            run("conntrack", "-D", "-f", f"ipv{own_range.version}", side, str(own_range))


def _has_v6(link: str) -> bool:
    """Return whether a link has an address of IPv6 that is more than the link's own."""
    return any(":" in text and not text.startswith("fe80:") for text in addresses("dev", link))


def _change_rules(version: int, changes: list[tuple[str, str]]) -> None:
    """Apply lines of iptables-restore, each with its table; those of a table take effect at once."""
    text = ""
    for table in sorted({table for table, _ in changes}):
        lines = "\n".join(line for changed, line in changes if changed == table)
        text += f"*{table}\n{lines}\nCOMMIT\n"
    if text:
        run(f"{_PROGRAM[version]}-restore", "-w", "5", "--noflush", text=text)


def _removal(version: int, cluster: str) -> list[tuple[str, str]]:
    """Return table and line of iptables-restore that remove each rule of a cluster."""
    table, lines = "", []
    for line in run(f"{_PROGRAM[version]}-save").splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif _comment(cluster) in line:
            lines.append((table, f"-D {line.removeprefix('-A ')}"))
    return lines
