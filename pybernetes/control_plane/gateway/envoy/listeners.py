"""Ports with chains, as Envoy has them."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.gateway.envoy.messages import (
    LISTENER,
    Message,
    from_server,
    message,
    packed,
    seconds,
)
from pybernetes.control_plane.gateway.envoy.routes import NOWHERE
from pybernetes.control_plane.gateway.model import Chain, Port

_HTTP = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
_TCP = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
_TLS = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
_INSPECTOR = "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"
_IDLE, _HEADERS = 300.0, 10.0
_MOST_STREAMS, _STREAM_WINDOW, _CONNECTION_WINDOW, _BUFFER = 100, 65536, 1048576, 32768
Fields = dict[str, Any]


def routes_name(entry: str, port: int, chain: Chain) -> str:
    """Return the name of the routes of a chain."""
    return f"{entry}/{port}/{chain.name}"


def listener(entry: str, port: Port, address: str, bound: int) -> Message:
    """Return the listener of a port, bound to a port of this machine."""
    fields: Fields = {
        "name": f"{entry}/{port.number}",
        "address": {
            "socket_address": {"address": address, "port_value": bound, "ipv4_compat": address == "::"}
        },
        "per_connection_buffer_limit_bytes": {"value": _BUFFER},
        "filter_chains": [_chain(entry, port, chain) for chain in port.chains],
        "listener_filters_timeout": seconds(_HEADERS),
    }
    if port.is_tls:
        inspector = {"name": "envoy.filters.listener.tls_inspector", "typed_config": packed(_INSPECTOR)}
        fields["listener_filters"] = [inspector]
    return message(LISTENER, fields)


def _chain(entry: str, port: Port, chain: Chain) -> Fields:
    name = routes_name(entry, port.number, chain)
    fields: Fields = {
        "name": chain.name,
        "filters": [_http(name) if chain.hosts is not None else _tcp(name, chain)],
    }
    if port.is_tls:
        fields["filter_chain_match"] = {"transport_protocol": "tls", "server_names": list(chain.server_names)}
    if chain.certificates:
        fields["transport_socket"] = {"name": "envoy.transport_sockets.tls", "typed_config": _tls(chain)}
    return fields


def _tls(chain: Chain) -> Message:
    secrets = [{"name": name, "sds_config": from_server()} for name in chain.certificates]
    protocols = ["h2", "http/1.1"] if chain.hosts is not None else []
    return packed(_TLS, {"common_tls_context": {
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
        "tls_certificate_sds_secret_configs": secrets, "alpn_protocols": protocols,
    }})  # fmt: skip


def _tcp(name: str, chain: Chain) -> Fields:
    fields: Fields = {"stat_prefix": name}
    if len(chain.backends) > 1:
        fields["weighted_clusters"] = {
            "clusters": [
                {"name": backend.cluster or NOWHERE, "weight": backend.weight} for backend in chain.backends
            ]
        }
    else:
        fields["cluster"] = chain.backends[0].cluster or NOWHERE if chain.backends else NOWHERE
    return {"name": "envoy.filters.network.tcp_proxy", "typed_config": packed(_TCP, fields)}


def _http(name: str) -> Fields:
    """Return what reads HTTP; the limits are those that Envoy's documentation has for what faces strangers."""
    filters = [
        {
            "name": f"envoy.filters.http.{word}",
            "typed_config": packed(f"envoy.extensions.filters.http.{word}.v3.{kind}"),
        }
        for word, kind in (("cors", "Cors"), ("router", "Router"))
    ]
    fields: Fields = {
        "stat_prefix": name, "rds": {"route_config_name": name, "config_source": from_server()}, "http_filters": filters,
        "use_remote_address": {"value": True}, "normalize_path": {"value": True}, "merge_slashes": True,
        "path_with_escaped_slashes_action": "UNESCAPE_AND_REDIRECT", "server_name": "pybernetes",
        "common_http_protocol_options": {
            "idle_timeout": seconds(_IDLE), "headers_with_underscores_action": "DROP_HEADER",
        },
        "http2_protocol_options": {
            "max_concurrent_streams": {"value": _MOST_STREAMS},
            "initial_stream_window_size": {"value": _STREAM_WINDOW},
            "initial_connection_window_size": {"value": _CONNECTION_WINDOW},
        },
        "stream_idle_timeout": seconds(_IDLE), "request_headers_timeout": seconds(_HEADERS),
        "upgrade_configs": [{"upgrade_type": "websocket"}],
    }  # fmt: skip
    return {"name": "envoy.filters.network.http_connection_manager", "typed_config": packed(_HTTP, fields)}
