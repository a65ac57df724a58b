"""Ways between the pods of two clusters of this machine: routes to each node's pods, and rules that let them through."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Mapping, Sequence

from pybernetes.tools.local import settings
from pybernetes.tools.local.network import bridge, network
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

PROTOCOL = "82"  # by which the routes between clusters are known
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def overlap(ranges: Mapping[str, Settings]) -> str:
    """Return what of clusters has the same addresses, in words; empty if nothing has.

    Services may: each cluster has its own. Nobody else may have an address that is a service's in another cluster.
    """
    places = [
        (cluster, what, ipaddress.ip_network(text))
        for cluster, known in ranges.items()
        for what, listed in (
            ("pods", known.pod_ranges),
            ("nodes", known.node_ranges),
            ("services", known.service_ranges),
        )
        for text in listed
        if text
    ]
    for number, (cluster, what, own) in enumerate(places):
        for other, its, theirs in places[number + 1 :]:
            if cluster != other and not what == its == "services" and _overlap(own, theirs):
                return f"{what} of {cluster} ({own}) and {its} of {other} ({theirs}) would have the same addresses"
    return ""


def _overlap(one: Network, other: Network) -> bool:
    return one.version == other.version and one.overlaps(other)


def routes(settings: Settings, nodes: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Return the ranges of nodes' pods, each with the address of its node of the same family.

    Nodes are what a cluster says of itself: whatever is not in the ranges that it was given is not led there.
    """
    pods, hosts = _networks(settings.pod_ranges), _networks(settings.node_ranges)
    result = {}
    for node in nodes:
        spec: Mapping[str, object] = node.get("spec") or {}  # type: ignore[assignment]
        status: Mapping[str, object] = node.get("status") or {}  # type: ignore[assignment]
        listed: Sequence[Mapping[str, str]] = status.get("addresses") or ()  # type: ignore[assignment]
        told = _networks(entry["address"] for entry in listed if entry["type"] == "InternalIP")
        gateways = [own for own in told if own.num_addresses == 1 and _is_below(own, hosts)]
        ranges: Sequence[str] = spec.get("podCIDRs") or ()  # type: ignore[assignment]
        for wanted in _networks(ranges):
            gateway = next((own for own in gateways if own.version == wanted.version), None)
            if gateway is not None and _is_below(wanted, pods):
                result[str(wanted)] = str(gateway.network_address)
    return result


def _networks(texts: Iterable[str]) -> list[Network]:
    """Return the ranges of texts, of those that are some."""
    result = []
    for text in texts:
        try:
            result.append(ipaddress.ip_network(text))
        except ValueError:
            continue
    return result


def _is_below(own: Network, wholes: Iterable[Network]) -> bool:
    return any(own.version == whole.version and own.subnet_of(whole) for whole in wholes)  # type: ignore[arg-type]


def lead(cluster: str, wanted: Mapping[str, str]) -> None:
    """Make this machine's routes to the pods of a cluster those that are wanted, and no others."""
    bridge = network.bridge_name(cluster)
    for ip in (("ip",), ("ip", "-6")):
        for route in json.loads(
            network.run(*ip, "-json", "route", "show", "dev", bridge, "proto", PROTOCOL) or "[]"
        ):
            if wanted.get(route["dst"]) != route.get("gateway"):
                network.run(*ip, "route", "delete", route["dst"], "dev", bridge, "proto", PROTOCOL)
    for pods, gateway in wanted.items():
        network.run("ip", "route", "replace", pods, "via", gateway, "dev", bridge, "proto", PROTOCOL)


def connected(cluster: Cluster, known: Settings) -> dict[str, Settings]:
    """Return the clusters that a cluster is connected with, as both of them say; one that was made anew is not."""
    result = {}
    for name in known.connected:
        other = Cluster(name)
        if other.settings.exists() and cluster.name in (its := settings.load(other)).connected:
            result[name] = its
    return {} if overlap({cluster.name: known, **result}) else result


def open_ways(cluster: str, known: Settings, others: Mapping[str, Settings]) -> bool:
    """Let pods of a cluster and of others through to one another; return whether they were not."""
    written = [
        bridge.let_through(source, target, ranges)
        for other, its in others.items()
        for source, target, ranges in ((cluster, other, its.pod_ranges), (other, cluster, known.pod_ranges))
    ]
    return any(written)
