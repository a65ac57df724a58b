"""Whether what a member says of its services can be passed on: other clusters would refuse it, or be harmed. Pure.

A member's own API server has checked all this, unless it lies.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.validation.names import dns_label, label_value, qualified_name

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_MOST_PORTS, _MOST_ENDPOINTS, _MOST_ADDRESSES = 100, 1000, 100
_MOST_BYTES = 64 * 1024  # of labels or annotations
_LAST_PORT = 65535
_LONGEST_STICKING = 86400
_CHOICES = {
    "sessionAffinity": ("None", "ClientIP"),
    "internalTrafficPolicy": ("Cluster", "Local"),
    "trafficDistribution": ("PreferClose", "PreferSameZone", "PreferSameNode"),
}
_VERSIONS = {"IPv4": 4, "IPv6": 6}


def is_sound_service(service: Object) -> bool:
    """Return whether a Service makes sense."""
    spec = service.get("spec")
    if not isinstance(spec, dict) or not _all(spec.get("ports"), _is_port, _MOST_PORTS):
        return False
    families = spec.get("ipFamilies") or []
    if not isinstance(families, list) or not set(map(str, families)) <= _VERSIONS.keys() or len(families) > 2:
        return False
    if any(name in spec and spec[name] not in values for name, values in _CHOICES.items()):
        return False
    sticking = spec.get("sessionAffinityConfig")
    return sticking is None or _sticks(sticking)


def _sticks(config: Any) -> bool:
    client = config.get("clientIP") if isinstance(config, dict) and len(config) == 1 else None
    seconds = client.get("timeoutSeconds") if isinstance(client, dict) and len(client) == 1 else None
    return type(seconds) is int and 0 < seconds <= _LONGEST_STICKING


def is_sound_export(export: Object) -> bool:
    """Return whether the labels and annotations that an export passes on are some, and when it was made is a text."""
    spec = export.get("spec") or {}
    if not isinstance(spec, dict) or not isinstance(export["metadata"].get("creationTimestamp") or "", str):
        return False
    for name in ("exportedLabels", "exportedAnnotations"):
        texts = spec.get(name) or {}
        if not isinstance(texts, dict) or not all(isinstance(value, str) for value in texts.values()):
            return False
        if sum(len(key) + len(value) for key, value in texts.items()) > _MOST_BYTES:
            return False
        if any(map(qualified_name, texts)):
            return False
        if name == "exportedLabels" and any(map(label_value, texts.values())):
            return False
    return True


def is_sound_slice(endpoint_slice: Object) -> bool:
    """Return whether an EndpointSlice has endpoints that pods of other clusters may be led to."""
    version = _VERSIONS.get(str(endpoint_slice.get("addressType")))
    if version is None or not _all(endpoint_slice.get("ports"), _is_port, _MOST_PORTS):
        return False

    def is_endpoint(endpoint: Any) -> bool:
        if not isinstance(endpoint, dict) or not isinstance(endpoint.get("conditions") or {}, dict):
            return False
        hostname = endpoint.get("hostname") or "h"
        if not isinstance(hostname, str) or dns_label(hostname):
            return False
        addresses = endpoint.get("addresses")
        return bool(addresses) and _all(addresses, lambda text: _is_address(text, version), _MOST_ADDRESSES)

    return _all(endpoint_slice.get("endpoints"), is_endpoint, _MOST_ENDPOINTS)


def _is_address(text: Any, version: int) -> bool:
    """Return whether a text is the address of somebody else: not of whoever asks, of its link, or of nobody."""
    try:
        address = ipaddress.ip_address(text) if isinstance(text, str) else None
    except ValueError:
        return False
    if address is None or address.version != version:
        return False
    return not (
        address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
        or getattr(address, "ipv4_mapped", None)
    )  # fmt: skip


def _is_port(port: Any) -> bool:
    if not isinstance(port, dict) or port.get("protocol", "TCP") not in _PROTOCOLS:
        return False
    number, name = port.get("port"), port.get("name") or "p"
    if (
        type(number) is not int
        or not 0 < number <= _LAST_PORT
        or not isinstance(name, str)
        or dns_label(name)
    ):
        return False
    return isinstance(port.get("appProtocol") or "", str) and len(port.get("appProtocol") or "") <= 256


def _all(values: Any, check: Any, most: int) -> bool:
    return values is None or (isinstance(values, list) and len(values) <= most and all(map(check, values)))
