"""Flags that kube-apiserver of v1.37 has and that are no part of a room of ours: why each does what it does, or nothing.

Flags with an effect stand where that is; ``docs/flags.md`` lists all of them.
"""

from __future__ import annotations

from pybernetes.control_plane.apiserver.observability import tracing
from pybernetes.lib.flags import HTTP1, SERVING_FLAGS, Fixed, Flag, Ignored, Refused, Seconds

_LOGS = "the log is plain text on stderr, line by line"
_METRICS = "metrics are those that are recorded, with their own labels"
_PEERS = "requests are not passed on to other API servers, which all serve the same"
_STORE = "the store is in memory and follows the database, which is never asked for a read"
_ELECTION = "the server that holds the elections has times that nobody sets: silent for 15 s, it is replaced"

PROCESS_FLAGS = (
    Flag("allow-privileged", False, "allow containers to be privileged"),
    Flag("profiling", True, "serve /debug/pprof/: samples of the processor's time, memory, tasks"),
    Flag("event-ttl", Seconds(3600), "how long events are kept"),
    Flag("request-timeout", Seconds(60), "how long a request may take that is no watch or stream"),
    Flag("min-request-timeout", 1800, "least seconds that a watch goes on, up to twice as long, if its client does not say"),
    Flag("strict-transport-security-directives", (), "directives of the Strict-Transport-Security header"),
    Flag("etcd-healthcheck-timeout", Seconds(2), "how long the check etcd may take"),
    Flag("etcd-readycheck-timeout", Seconds(2), "how long the check etcd-readiness may take"),
    tracing.FLAG,
)  # fmt: skip
OTHER_FLAGS = (
    Ignored("contention-profiling", False, SERVING_FLAGS["contention-profiling"]),
    Ignored("goaway-chance", 0.0, f"{HTTP1}; balancers see new connections anyway"),
    Ignored("http2-max-streams-per-connection", 0, HTTP1),
    Ignored("disable-http2-serving", False, HTTP1),
    Ignored("watch-cache", True, _STORE),
    Ignored("watch-cache-sizes", (), _STORE),
    Ignored("etcd-count-metric-poll-period", Seconds(60), "objects are counted when somebody asks"),
    Ignored("etcd-db-metric-poll-interval", Seconds(30), "the size is looked up when somebody asks"),
    Ignored("lease-reuse-duration-seconds", 60, "keys that expire together share a lease anyway"),
    Ignored("storage-initialization-timeout", Seconds(60), "the server is not ready before the store is, however long that takes"),
    Ignored("delete-collection-workers", 1, "deletions of a collection go to the store in groups"),
    Ignored("log-flush-frequency", Seconds(5), _LOGS),
    Ignored("max-connection-bytes-per-sec", 0, "streams are held back by their readers alone"),
    Ignored("kubelet-timeout", Seconds(5), "a kubelet may take as long as the request that waits for it"),
    Fixed("logging-format", "text", _LOGS),
    Fixed("enable-garbage-collector", True, "the garbage collector is part of the contract of deletions"),
    Fixed("aggregator-reject-forwarding-redirect", True, "redirects of aggregated servers never go to clients"),
    Fixed("enable-logs-handler", False, "files of the machine are not served"),
    Fixed("endpoint-reconciler-type", "lease", "servers know one another by leases"),
    Fixed("permit-address-sharing", False, "an address has one server"),
    Fixed("permit-port-sharing", False, "a port has one server"),
    Fixed("emulated-version", (), "the API of v1.37 alone is served", (("1.37",), ("kube=1.37",))),
    Fixed("min-compatibility-version", (), "the API of v1.37 alone is served", (("1.37",), ("kube=1.37",), ("1.36",), ("kube=1.36",))),
    Fixed("emulation-forward-compatible", False, "no other version is emulated"),
    Fixed("runtime-config-emulation-forward-compatible", False, "no other version is emulated"),
    Fixed("show-hidden-metrics-for-version", "", "no metric is hidden"),
    Fixed("livez-grace-period", Seconds(0), "livez tells of steps of the start that are not done from the beginning"),
    Fixed("shutdown-send-retry-after", False, "requests that come while the server stops are answered as always until it is gone"),
    Fixed("shutdown-watch-termination-grace-period", Seconds(0), "watches end when the server stops"),
    Fixed("kubernetes-service-node-port", 0, "the service kubernetes is a ClusterIP"),
    Refused("admission-control", help="deprecated: see --enable-admission-plugins"),
    Refused("allow-metric-labels", help=_METRICS),
    Refused("allow-metric-labels-manifest", help=_METRICS),
    Refused("disabled-metrics", help=_METRICS),
    Refused("coordinated-leadership-lease-duration", help=_ELECTION),
    Refused("coordinated-leadership-renew-deadline", help=_ELECTION),
    Refused("coordinated-leadership-retry-period", help=_ELECTION),
    Refused("cors-allowed-origins", help="browsers of other sites get no answer: put a proxy before the server"),
    Refused("debug-socket-path", help="profiles are at /debug/pprof/, to those who may see them"),
    Refused("enable-aggregator-routing", help="aggregated servers are reached by the addresses of their services"),
    Refused("etcd-servers-overrides", help="all kinds are in one store"),
    Refused("log-json-info-buffer-size", help=_LOGS),
    Refused("log-json-split-stream", help=_LOGS),
    Refused("log-text-info-buffer-size", help=_LOGS),
    Refused("log-text-split-stream", help=_LOGS),
    Refused("vmodule", help="-v is for the whole program"),
    Refused("peer-advertise-ip", help=_PEERS),
    Refused("peer-advertise-port", help=_PEERS),
    Refused("peer-ca-file", help=_PEERS),
    Refused("service-account-signing-endpoint", help="tokens are signed with a key of a file"),
    Refused("tls-curve-preferences", help="Python's TLS does not choose curves"),
)  # fmt: skip
