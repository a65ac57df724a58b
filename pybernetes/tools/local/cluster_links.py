"""Ways between the pods of two clusters of this machine: routes to each node's pods, and rules that let them through."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence

from pybernetes.tools.local import network
from pybernetes.tools.local.settings import Settings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def overlap(ranges: Mapping[str, Settings]) -> str:
    """Return what of clusters has the same addresses, in words; empty if nothing has.

    Services may: each cluster has its own. Nobody else may have an address that is a service's in another cluster.
    """
    places = [
        (cluster, what, ipaddress.ip_network(text))
        for cluster, settings in ranges.items()
        for what, listed in (
            ("pods", settings.pod_ranges),
            ("nodes", settings.node_ranges),
            ("services", settings.service_ranges),
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


def routes(nodes: Iterable[Mapping[str, object]]) -> list[tuple[str, str]]:
    """Return the ranges of nodes' pods, each with the address of its node of the same family."""
    result = []
    for node in nodes:
        spec: Mapping[str, object] = node.get("spec") or {}  # type: ignore[assignment]
        status: Mapping[str, object] = node.get("status") or {}  # type: ignore[assignment]
        listed: Sequence[Mapping[str, str]] = status.get("addresses") or ()  # type: ignore[assignment]
        addresses = [entry["address"] for entry in listed if entry["type"] == "InternalIP"]
        pods: Sequence[str] = spec.get("podCIDRs") or ()  # type: ignore[assignment]
        for text in pods:
            version = ipaddress.ip_network(text).version
            own = next((one for one in addresses if ipaddress.ip_address(one).version == version), None)
            if own is not None:
                result.append((text, own))
    return result


def connect(clusters: Mapping[str, tuple[Settings, Sequence[Mapping[str, object]]]]) -> None:
    """Let pods of clusters reach one another's; what is known of each are its settings and its nodes."""
    for cluster, (_, nodes) in clusters.items():
        for pods, address in routes(nodes):
            network.run("ip", "route", "replace", pods, "via", address, "dev", network.bridge_name(cluster))
    for cluster in clusters:
        for other, (settings, _) in clusters.items():
            if cluster != other:
                network.let_through(cluster, other, settings.pod_ranges)
