"""The network of a local cluster: names, addresses, and a network namespace for each node; ``bridge.py`` has what joins them.

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
from pathlib import Path

from pybernetes.lib.network.network import default_address
from pybernetes.tools.local.network.balancer_rules import link_address, waiting_rules
from pybernetes.tools.local.settings import Settings

SINK = "kube-services"
LAST_METRIC = "4000001"  # behind every route that somebody else makes
ZONE_LABEL, REGION_LABEL = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_NAMESPACES = Path("/run/netns")
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
    used = [ipaddress.ip_interface(text).network for text in (taken if taken is not None else addresses())]
    candidates: list[ipaddress.IPv4Network] = list(_POOL.subnets(new_prefix=24))
    start = int(_short(cluster), 16) % len(candidates)
    for candidate in candidates[start:] + candidates[:start]:
        if not any(candidate.overlaps(network) for network in used if network.version == 4):
            return str(candidate)
    raise OSError(f"no free range of addresses in {_POOL}")


def addresses(*which: str) -> list[str]:
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


def set_address(ip: tuple[str, ...], node_range: str, own: str, link: str) -> None:
    """Give a link an address, which nobody else can have: it need not be asked for."""
    prefix = ipaddress.ip_network(node_range).prefixlen
    at_once = ("nodad",) if ":" in own else ()
    run(*ip, "address", "replace", f"{own}/{prefix}", "dev", link, *at_once)


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
    set_address(inside, node_range, address(node_range, number), "eth0")
    if node_range_v6:
        enabled = (f"net.ipv6.conf.{conf}.disable_ipv6=0" for conf in ("all", "default"))
        run("ip", "netns", "exec", name, "sysctl", "-qw", *enabled)
        set_address(inside, node_range_v6, address(node_range_v6, number), "eth0")
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
