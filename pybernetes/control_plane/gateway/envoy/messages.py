"""Messages of Envoy's API by their names. Its generated modules are imported when the first one is made."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

Message = Any  # messages are generated, and so are their types

_MODULES = (
    "config.cluster.v3.cluster", "config.endpoint.v3.endpoint", "config.listener.v3.listener", "config.route.v3.route",
    "extensions.filters.http.cors.v3.cors", "extensions.filters.http.router.v3.router",
    "extensions.filters.listener.tls_inspector.v3.tls_inspector",
    "extensions.filters.network.http_connection_manager.v3.http_connection_manager",
    "extensions.filters.network.tcp_proxy.v3.tcp_proxy", "extensions.transport_sockets.tls.v3.tls",
    "extensions.retry.host.previous_hosts.v3.previous_hosts",
    "extensions.upstreams.http.v3.http_protocol_options",
)  # fmt: skip
CLUSTER = "envoy.config.cluster.v3.Cluster"
ENDPOINTS = "envoy.config.endpoint.v3.ClusterLoadAssignment"
LISTENER = "envoy.config.listener.v3.Listener"
ROUTES = "envoy.config.route.v3.RouteConfiguration"
SECRET = "envoy.extensions.transport_sockets.tls.v3.Secret"
_TLS = "envoy.extensions.transport_sockets.tls.v3"


class MissingProxy(Exception):
    """The packages that hold Envoy and its API are not installed."""


@cache
def _class(name: str) -> Any:
    from google.protobuf import descriptor_pool, message_factory

    try:
        for module in _MODULES:
            import_module(f"envoy.{module}_pb2")
    except ImportError as error:
        raise MissingProxy(
            f"Envoy's API is not installed ({error}): pip install 'pybernetes[gateway]'"
        ) from None
    return message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(name))


def message(name: str, fields: dict[str, Any]) -> Message:
    """Return a message of a name; fields may be dictionaries in turn."""
    return _class(name)(**fields)


def packed(name: str, fields: dict[str, Any] | None = None) -> Message:
    """Return a message of a name, packed for a field that takes any."""
    from google.protobuf.any_pb2 import Any as AnyMessage

    result = AnyMessage()
    result.Pack(message(name, fields or {}), deterministic=True)
    return result


def seconds(value: float) -> dict[str, int]:
    """Return a duration."""
    whole = int(value)
    return {"seconds": whole, "nanos": round((value - whole) * 1_000_000_000)}


def from_server() -> dict[str, Any]:
    """Return where resources come from that are subscribed to by name."""
    return {"ads": {}, "resource_api_version": "V3"}
