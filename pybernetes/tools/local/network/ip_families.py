"""The families of addresses that a local cluster has, and the ranges of both. Pure."""

from __future__ import annotations

import hashlib
import ipaddress

# What a cluster may have, and the versions of its addresses, the one that counts first at the front.
IP_FAMILIES: dict[str, tuple[int, ...]] = {"ipv4": (4,), "dual": (4, 6), "ipv6": (6,)}
_PREFIX_BYTES = 5  # what RFC 4193 lets everybody choose


def own_prefix(cluster: str) -> ipaddress.IPv6Network:
    """Return the unique local range of a cluster: each name has another, so that clusters do not meet."""
    digest = hashlib.sha256(f"pybernetes {cluster}".encode()).digest()[:_PREFIX_BYTES]
    return ipaddress.IPv6Network((b"\xfd" + digest + bytes(10), 48))


def node_range(cluster: str) -> str:
    """Return the IPv6 range of a cluster's nodes."""
    return f"{own_prefix(cluster)[0]}/64"


def pod_range(cluster: str) -> str:
    """Return the IPv6 range of a cluster's pods: a /64 for each of 256 nodes."""
    return f"{own_prefix(cluster)[0x100 << 64]}/56"


def service_range(cluster: str) -> str:
    """Return the IPv6 range of a cluster's services."""
    return f"{own_prefix(cluster)[1 << 64]}/112"


def completed(given: str, family: str, own: str, default: str) -> str:
    """Return the ranges of a cluster, with commas between them and in the order of its families.

    What is ``given`` stays; ``own`` stands in for a missing range of IPv6, ``default`` for one of IPv4. ValueError if a range
    is of a family that the cluster does not have, unless it is the default, or if there are two of one.
    """
    by_version: dict[int, str] = {}
    for text in given.split(","):
        version = ipaddress.ip_network(text).version
        if version in by_version:
            raise ValueError(f"{given}: there are two ranges of IPv{version}")
        by_version[version] = text
    wanted = IP_FAMILIES[family]
    for given_version, text in by_version.items():
        if given_version not in wanted and text != default:
            raise ValueError(
                f"{text} is of IPv{given_version}, which a cluster with the IP family {family} does not have"
            )
    stand_in = {4: default, 6: own}
    return ",".join(by_version.get(version, stand_in[version]) for version in wanted)


def versions(ranges: str) -> tuple[int, ...]:
    """Return the versions of ranges, in their order."""
    return tuple(ipaddress.ip_network(text).version for text in ranges.split(","))


def bracketed(host: str) -> str:
    """Return an address as URLs have it."""
    return f"[{host}]" if ":" in host else host
