"""What Envoy is started with: where it gets everything else from."""

from __future__ import annotations

from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.checks import PROXY_STEPS

_MOST_CONNECTIONS = 50_000
_SERVER = "xds"


def bootstrap(socket: Path) -> Object:
    """Return the first configuration of an Envoy that asks on a socket. It has no port or socket for an administrator."""
    grpc = {"envoy_grpc": {"cluster_name": _SERVER}}
    everything = {"ads": {}, "resource_api_version": "V3", "initial_fetch_timeout": "0s"}
    options = {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {"http2_protocol_options": {}},
    }
    endpoint = {"endpoint": {"address": {"pipe": {"path": str(socket)}}}}
    server = {
        "name": _SERVER, "type": "STATIC", "connect_timeout": "5s",
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options},
        "load_assignment": {"cluster_name": _SERVER, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }  # fmt: skip
    connections = {
        "name": "envoy.resource_monitors.global_downstream_max_connections",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
            "max_active_downstream_connections": _MOST_CONNECTIONS,
        },
    }
    return {
        "node": {"id": "pybernetes-gateway", "cluster": "pybernetes-gateway"},
        "dynamic_resources": {
            "ads_config": {"api_type": "DELTA_GRPC", "transport_api_version": "V3", "grpc_services": [grpc]},
            "cds_config": everything, "lds_config": everything,
        },
        "static_resources": {"clusters": [server]},
        "overload_manager": {"resource_monitors": [connections]},
        "layered_runtime": {"layers": [{"name": "static", "static_layer": {"re2.max_program_size.error_level": PROXY_STEPS}}]},
    }  # fmt: skip
