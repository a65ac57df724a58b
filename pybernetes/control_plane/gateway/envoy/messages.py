"""Messages of Envoy's API by their names."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.gateway.envoy.api_pool import message_class

Message = Any  # classes of messages are made from a table

TYPE_PREFIX = "type.googleapis.com/"
_ANY = "google.protobuf.Any"
CLUSTER = "envoy.config.cluster.v3.Cluster"
ENDPOINTS = "envoy.config.endpoint.v3.ClusterLoadAssignment"
LISTENER = "envoy.config.listener.v3.Listener"
ROUTES = "envoy.config.route.v3.RouteConfiguration"
SECRET = "envoy.extensions.transport_sockets.tls.v3.Secret"
_TLS = "envoy.extensions.transport_sockets.tls.v3"


def message(name: str, fields: dict[str, Any]) -> Message:
    """Return a message of a name; fields may be dictionaries in turn."""
    return message_class(name)(**fields)


def packed(name: str, fields: dict[str, Any] | None = None) -> Message:
    """Return a message of a name, packed for a field that takes any."""
    made = message(name, fields or {})
    packed_fields = {"type_url": f"{TYPE_PREFIX}{name}", "value": made.SerializeToString(deterministic=True)}
    return message(_ANY, packed_fields)


def seconds(value: float) -> dict[str, int]:
    """Return a duration."""
    whole = int(value)
    return {"seconds": whole, "nanos": round((value - whole) * 1_000_000_000)}


def from_server() -> dict[str, Any]:
    """Return where resources come from that are subscribed to by name."""
    return {"ads": {}, "resource_api_version": "V3"}
