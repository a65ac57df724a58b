"""Flags that several of upstream's components have and that are taken with one value, or not at all: each with the reason."""

from __future__ import annotations

from pybernetes.lib.flags import LOG_FLAGS, SERVING_FLAGS, Fixed, Flag, Refused

_METRICS = "metrics are those that are recorded, with their own labels"
_VERSION = "the API of v1.37 alone is spoken"
_REMEMBERED = "what the API server said of a caller is not remembered for a time that could be set"

# Of every component that shows its health and metrics.
OTHERS: tuple[Flag, ...] = (
    Fixed("emulated-version", (), _VERSION, (("1.37",), ("kube=1.37",))),
    Fixed("min-compatibility-version", (), _VERSION, (("1.37",), ("kube=1.37",), ("1.36",), ("kube=1.36",))),
    Fixed("show-hidden-metrics-for-version", "", "no metric is hidden"),
    Refused("allow-metric-labels", help=_METRICS),
    Refused("allow-metric-labels-manifest", help=_METRICS),
    Refused("disabled-metrics", help=_METRICS),
    Refused("tls-curve-preferences", help="Python's TLS does not choose curves"),
    Refused(
        "tls-sni-cert-key", help="health and metrics have one certificate, whatever name they are asked by"
    ),
)
# What is taken, and changes nothing because of the reason.
IGNORED = {
    **{name: why for name, why in LOG_FLAGS.items() if name != "logtostderr"},  # which upstream has removed
    **SERVING_FLAGS,
    "authentication-skip-lookup": "authorities are looked up only if --authentication-kubeconfig is given",
    "authentication-token-webhook-cache-ttl": _REMEMBERED,
    "authentication-tolerate-lookup-failure": "serving never waits for the authorities: who needs them is unknown until then",
    "authorization-webhook-cache-authorized-ttl": _REMEMBERED,
    "authorization-webhook-cache-unauthorized-ttl": _REMEMBERED,
}
