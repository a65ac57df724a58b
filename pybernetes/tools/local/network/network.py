"""The network of a local cluster: a bridge on this machine, and a network namespace for each node.

The host's own ports, rules and routes stay as they are, but for the bridge and a few rules that let nodes out, nobody
in, and nodes to this machine's API server and name server alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pybernetes.lib.network.network import default_address
from pybernetes.tools.local.network.balancer_rules import link_address, waiting_rules
from pybernetes.tools.local.network.host_balancers import remove_rules
from pybernetes.tools.local.settings import Settings

SINK = "kube-services"
LAST_METRIC = "4000001"  # behind every route that somebody else makes
ZONE_LABEL, REGION_LABEL = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_NAMESPACES = Path("/run/netns")
_PROGRAM = {4: "iptables", 6: "ip6tables"}
_FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
_POOL = ipaddress.IPv4Network("172.30.0.0/16")


def run(*command: str, text: str | None = None) -> str:
    """Run a command and return its output; what it complains about becomes the error."""
    done = subprocess.run(command, capture_output=True, text=True, input=text)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def _short(text: str) -> str:
    """Return a few characters that stand for a name, since links have short names."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def bridge_name(cluster: str) -> str:
    """Return the bridge of a cluster."""
    return f"pyb{_short(cluster)}"


def bridge_exists(cluster: str) -> bool:
    """Return whether a cluster of this name has a bridge on this machine."""
    return _link_exists(bridge_name(cluster))


def _link_exists(name: str) -> bool:
    try:
        return bool(socket.if_nametoindex(name))
    except OSError:
        return False


def namespace(cluster: str, node: str) -> str:
    """Return the network namespace of a node."""
    return f"pyb-{cluster}-{node}"


def nodes(cluster: str) -> set[str]:
    """Return the nodes of a cluster that have a namespace on this machine."""
    name = re.compile(re.escape(namespace(cluster, "")) + rf"({re.escape(cluster)}(-\d+)?)\Z")
    matches = (name.match(path.name) for path in _NAMESPACES.glob("pyb-*"))
    return {match[1] for match in matches if match}


def any_namespace(cluster: str) -> Path | None:
    """Return the file of the network namespace of a node that exists; None if there is none."""
    return next((_NAMESPACES / namespace(cluster, node) for node in sorted(nodes(cluster))), None)


def link_name(cluster: str, node: str) -> str:
    """Return the name of this machine's end of the link to a node."""
    return f"pv{_short(cluster + '/' + node)}"


def free_range(cluster: str = "", taken: Iterable[str] | None = None) -> str:
    """Return a range of addresses for the nodes of a cluster that no link of this machine has.

    Each name begins to look at another place: clusters that are made at the same moment should not meet.
    """
    used = [ipaddress.ip_interface(text).network for text in (taken if taken is not None else _addresses())]
    candidates: list[ipaddress.IPv4Network] = list(_POOL.subnets(new_prefix=24))
    start = int(_short(cluster), 16) % len(candidates)
    for candidate in candidates[start:] + candidates[:start]:
        if not any(candidate.overlaps(network) for network in used if network.version == 4):
            return str(candidate)
    raise OSError(f"no free range of addresses in {_POOL}")


def _addresses(*which: str) -> list[str]:
    links = json.loads(run("ip", "-json", "address", "show", *which))
    return [f"{info['local']}/{info['prefixlen']}" for link in links for info in link.get("addr_info", ())]


def gateway(node_range: str) -> str:
    """Return the address of this machine on a cluster's bridge."""
    return str(next(ipaddress.ip_network(node_range).hosts()))


def address(node_range: str, number: int) -> str:
    """Return the address of a cluster's node, counted from 0."""
    return str(ipaddress.ip_network(node_range)[2 + number])


def node_addresses(settings: Settings, name: str) -> tuple[str, ...]:
    """Return the addresses that a node is known by, one for each family."""
    if settings.host_network:
        return (default_address(),)
    number = settings.node(name).number
    return tuple(address(node_range, number) for node_range in settings.node_ranges)


def present_addresses(cluster: str, settings: Settings) -> dict[str, str]:
    """Return the first addresses of the nodes that have a namespace, by their names."""
    there = nodes(cluster)
    return {
        node.name: node_addresses(settings, node.name)[0] for node in settings.nodes if node.name in there
    }


def instance(settings: Settings, name: str) -> dict[str, object] | None:
    """Return what the cloud of this machine knows of a node; None if the cluster has none of the name."""
    for node in settings.nodes:
        if node.name == name:
            addresses = node_addresses(settings, name)
            labels, _, _ = settings.registration(node)
            place = _place(settings, labels, node.number)
            return {"addresses": addresses, "off": node.stopped, "group": node.group, **place}
    for number, hollow in enumerate(settings.hollow_nodes):
        if hollow.name == name:
            return {"group": hollow.group, **_place(settings, settings.group(hollow.group).labels, number)}
    prefix, _, text = name.rpartition("-")
    if prefix == "hollow" and text.isdecimal() and int(text) < settings.hollow:
        return _place(settings, {}, int(text))
    return None


def _place(settings: Settings, labels: Mapping[str, str], number: int) -> dict[str, object]:
    """Return the zone and region of a node: those of its labels, otherwise a zone by turns in the usual region."""
    zone = labels.get(ZONE_LABEL) or f"local-{number % settings.zones + 1}"
    return {"zone": zone, "region": labels.get(REGION_LABEL, "")}


def host_address(settings: Settings) -> str:
    """Return the address by which nodes know this machine."""
    return default_address() if settings.host_network else gateway(settings.node_ranges[0])


def cluster_dns(settings: Settings) -> str:
    """Return the address of the cluster's name server among the services: the tenth, as everywhere."""
    return str(ipaddress.ip_network(settings.service_ranges[0])[10])


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
    _set_address(("ip",), node_range, gateway(node_range), name)
    if node_range_v6:
        run("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=0")  # this machine's own links may have none
        _set_address(("ip",), node_range_v6, gateway(node_range_v6), name)
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


def _set_address(ip: tuple[str, ...], node_range: str, own: str, link: str) -> None:
    """Give a link an address, which nobody else can have: it need not be asked for."""
    prefix = ipaddress.ip_network(node_range).prefixlen
    at_once = ("nodad",) if ":" in own else ()
    run(*ip, "address", "replace", f"{own}/{prefix}", "dev", link, *at_once)


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


def make_node(
    cluster: str,
    node: str,
    node_range: str,
    number: int,
    kept_inside: Iterable[str] = (),
    node_range_v6: str = "",
) -> None:
    """Make a node's namespace with its one link to the bridge.

    Packets to the ranges that are kept inside never follow the route to the outside, not even for a moment.
    """
    name, link = namespace(cluster, node), link_name(cluster, node)
    if not (_NAMESPACES / name).exists():
        run("ip", "netns", "add", name)
        # A process that outlived an earlier namespace of this node would still hold the other end of its link.
        cut_link(cluster, node)
    inside = ("ip", "-netns", name)
    run(*inside, "link", "set", "lo", "up")
    if not _link_exists(link):
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "link", "set", link, "master", bridge_name(cluster), "up")
    _set_address(inside, node_range, address(node_range, number), "eth0")
    if node_range_v6:
        enabled = (f"net.ipv6.conf.{conf}.disable_ipv6=0" for conf in ("all", "default"))
        run("ip", "netns", "exec", name, "sysctl", "-qw", *enabled)
        _set_address(inside, node_range_v6, address(node_range_v6, number), "eth0")
    # Load balancers know nodes by link addresses that follow from their addresses.
    run(*inside, "link", "set", "eth0", "address", link_address(address(node_range, number)))
    run(*inside, "link", "set", "eth0", "up")
    for pod_range in kept_inside:
        run(*inside, "route", "replace", "unreachable", pod_range, "metric", LAST_METRIC)
    run(*inside, "route", "replace", "default", "via", gateway(node_range))
    kernel = ["net.ipv4.ip_forward=1", "net.ipv6.conf.eth0.accept_ra=0"]  # nor another node's
    if node_range_v6:
        run(*inside, "route", "replace", "default", "via", gateway(node_range_v6))
        kernel.append("net.ipv6.conf.all.forwarding=1")
    run("ip", "netns", "exec", name, "sysctl", "-q", "-e", "-w", *kernel)
    waiting = waiting_rules(filter(None, (node_range, node_range_v6)))
    run("ip", "netns", "exec", name, "nft", "-f", "-", text=waiting)


def keep_services_inside(name: str, ranges: Iterable[str], own: Iterable[str]) -> None:
    """Route packets to services that no rule handles nowhere, in a node's namespace if it has one.

    An unreachable route would not do: a program's connect() would fail before any rule sees a packet of it.
    """
    inside = ("ip", "-netns", name) if name else ("ip",)
    if SINK not in run(*inside, "-brief", "link", "show"):
        run(*inside, "link", "add", SINK, "type", "bridge")
    run(*inside, "link", "set", SINK, "up")
    sources = {ipaddress.ip_address(address).version: address for address in own}
    for service_range in ranges:
        source = sources[ipaddress.ip_network(service_range).version]
        run(*inside, "route", "replace", service_range, "dev", SINK, "src", source)


def cut_link(cluster: str, node: str) -> None:
    """Take the cable out of a node."""
    subprocess.run(["ip", "link", "delete", link_name(cluster, node)], capture_output=True)


def remove_node(cluster: str, node: str) -> None:
    """Remove a node's namespace, with every link and process inside."""
    name = namespace(cluster, node)
    if (_NAMESPACES / name).exists():
        for pid in run("ip", "netns", "pids", name).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        cut_link(cluster, node)  # by itself it would go a moment after the namespace
        run("ip", "netns", "delete", name)


def remove_bridge(cluster: str) -> None:
    """Remove the bridge and the rules; this machine forgets the connections that went over it."""
    name = bridge_name(cluster)
    if bridge_exists(cluster):  # nor are there rules without it
        ranges = [ipaddress.ip_interface(text).network for text in _addresses("dev", name)]
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
    return any(":" in text and not text.startswith("fe80:") for text in _addresses("dev", link))


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
