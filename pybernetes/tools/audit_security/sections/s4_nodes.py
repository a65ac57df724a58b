"""4: kubelets, kube-proxy and their files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.tools.audit_security.check import Check, Finding, State, nobody
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs
from pybernetes.tools.audit_security.sections.s1_1_control_plane_files import mode, owned

_WEAK = ("_CBC_", "_RC4_", "_3DES_")


def field(config: Object, path: str) -> Any:
    """Return a field of a kubelet's configuration by its dotted path."""
    value: Any = config
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _kubelets(
    path: str, good: Callable[[Any], bool], otherwise: str, state: State = State.FAIL
) -> Callable[[ClusterInputs], Finding]:
    def examine(inputs: ClusterInputs) -> Finding:
        if not inputs.kubelets:
            return Finding(State.NONE, _NO_KUBELET)
        bad = (name for name, config in inputs.kubelets.items() if not good(field(config, path)))
        return nobody(bad, otherwise, state)

    return examine


def _strong(ciphers: Any) -> bool:
    return not any(part in cipher for cipher in ciphers or () for part in _WEAK)


def _local(text: str) -> Callable[[ClusterInputs], Finding]:
    """Return that a recommendation means nothing for local nodes; those of other clusters must be looked at."""
    return lambda inputs: (
        Finding(State.MANUAL, "look at the nodes") if inputs.files is None else Finding(State.NONE, text)
    )


def _served(inputs: ClusterInputs) -> Finding:
    bad = (
        name
        for name, config in inputs.kubelets.items()
        if not config.get("tlsCertFile") and not config.get("serverTLSBootstrap")
    )
    return nobody(bad, "self-signed certificates") if inputs.kubelets else Finding(State.NONE, _NO_KUBELET)


_NO_KUBELET = "no kubelet answers: hollow nodes, or none is ready"
_SERVICE = _local("a local node is no system service")

CHECKS = (
    Check("4.1.1", "the kubelet's service file: mode 600 or less", _SERVICE),
    Check("4.1.2", "the kubelet's service file belongs to root", _SERVICE),
    Check("4.1.3", "kube-proxy's kubeconfig: mode 600 or less", mode("node kubeconfigs", 0o600)),
    Check("4.1.4", "kube-proxy's kubeconfig belongs to its user", owned("node kubeconfigs")),
    Check("4.1.5", "the kubelet's kubeconfig: mode 600 or less", mode("node kubeconfigs", 0o600)),
    Check("4.1.6", "the kubelet's kubeconfig belongs to its user", owned("node kubeconfigs")),
    Check("4.1.7", "authorities of clients: mode 644 or less", mode("certificates", 0o644)),
    Check("4.1.8", "authorities of clients belong to their user", owned("certificates")),
    Check("4.1.9", "the kubelet's configuration: mode 600 or less", mode("node configuration", 0o600)),
    Check("4.1.10", "the kubelet's configuration belongs to its user", owned("node configuration")),
    Check("4.2.1", "kubelets refuse requests without credentials", _kubelets(
        "authentication.anonymous.enabled", lambda value: value is False, "anonymous requests are answered")),
    Check("4.2.2", "kubelets ask who may", _kubelets(
        "authorization.mode", lambda value: value == "Webhook", "authorization is not Webhook")),
    Check("4.2.3", "kubelets verify client certificates", _kubelets(
        "authentication.x509.clientCAFile", bool, "no authority of clients")),
    Check("4.2.4", "kubelets have no read-only port", _kubelets("readOnlyPort", lambda value: not value, "it is open")),
    Check("4.2.5", "idle streams of kubelets end", _kubelets(
        "streamingConnectionIdleTimeout", lambda value: value not in (0, "0", "0s"), "they never end")),
    Check("4.2.6", "kubelets make their iptables chains", _kubelets(
        "makeIPTablesUtilChains", lambda value: value is not False, "they do not", State.WARN)),
    Check("4.2.7", "kubelets are named like their machines", _local("nodes of a local cluster share one machine")),
    Check("4.2.8", "kubelets report enough events", _kubelets(
        "eventRecordQPS", lambda value: value is None or value >= 0, "events are dropped")),
    Check("4.2.9", "kubelets serve by TLS with certificates of the cluster", _served),
    Check("4.2.10", "kubelets renew their client certificates", _kubelets(
        "rotateCertificates", lambda value: value is not False, "they do not", State.WARN)),
    Check("4.2.11", "kubelets renew their serving certificates", _kubelets(
        "serverTLSBootstrap", lambda value: value is True, "they do not", State.WARN)),
    Check("4.2.12", "ciphers of kubelets are strong", _kubelets("tlsCipherSuites", _strong, "weak ciphers")),
    Check("4.2.13", "pods have a limit of processes", _kubelets(
        "podPidsLimit", lambda value: isinstance(value, int) and value > 0, "no limit", State.WARN)),
    Check("4.2.14", "seccomp is RuntimeDefault by default", _kubelets(
        "seccompDefault", lambda value: value is True, "off: pods must ask for it", State.WARN)),
    Check("4.2.15", "a firewall stands before kubelets", _local("a local node is reached from this machine only")),
    Check("4.3.1", "kube-proxy serves metrics to loopback only", _local("kube-proxy of a local node serves none")),
)  # fmt: skip
