"""Ports of services: clusters, whose endpoints come apart from them, and their endpoints."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.envoy.messages import (
    CLUSTER,
    ENDPOINTS,
    Message,
    from_server,
    message,
    packed,
    seconds,
)
from pybernetes.control_plane.gateway.model import Cluster

_HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def cluster(model: Cluster) -> Message:
    """Return the cluster of a port of a service."""
    fields = {
        "name": model.name, "type": "EDS", "connect_timeout": seconds(5), "lb_policy": "LEAST_REQUEST",
        "eds_cluster_config": {"eds_config": from_server(), "service_name": model.name},
        "per_connection_buffer_limit_bytes": {"value": 32768},
    }  # fmt: skip
    if model.is_http2:
        explicit: dict[str, Any] = {"explicit_http_config": {"http2_protocol_options": {}}}
        fields["typed_extension_protocol_options"] = {_HTTP_OPTIONS: packed(_HTTP_OPTIONS, explicit)}
    return message(CLUSTER, fields)


def endpoints(model: Cluster, slices: Iterable[Object], own: tuple[str, range] = ("", range(0))) -> Message:
    """Return the endpoints of a cluster: those that serve, or all that still do while they end if there are no others.

    The proxy's ``own`` address and ports are none: a request must not go round in circles.
    """
    ready: set[tuple[str, int]] = set()
    ending: set[tuple[str, int]] = set()
    for slice_ in slices:
        if slice_.get("addressType") not in ("IPv4", "IPv6"):
            continue
        for port in slice_.get("ports") or ():
            if (
                (port.get("name") or "") != model.port
                or port.get("protocol", "TCP") != "TCP"
                or not port.get("port")
            ):
                continue
            for endpoint in slice_.get("endpoints") or ():
                conditions = endpoint.get("conditions") or {}
                if conditions.get("ready", True):
                    chosen = ready
                elif conditions.get("serving") and conditions.get("terminating"):
                    chosen = ending
                else:
                    continue
                chosen.update(
                    (address, port["port"])
                    for address in endpoint["addresses"][:1]
                    if is_elsewhere(address) and not (address == own[0] and port["port"] in own[1])
                )
    entries = [
        {"endpoint": {"address": {"socket_address": {"address": address, "port_value": port}}}}
        for address, port in sorted(ready or ending)
    ]
    return message(ENDPOINTS, {"cluster_name": model.name, "endpoints": [{"lb_endpoints": entries}]})


def is_elsewhere(address: str) -> bool:
    """Return whether an address is not the proxy's own machine: nobody may reach what listens there through it."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None) or ip
    return not (mapped.is_loopback or mapped.is_link_local or mapped.is_unspecified or mapped.is_multicast)
