"""2: etcd."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.audit_security.check import Check, Finding, State
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs
from pybernetes.tools.audit_security.sections._flags import Verdict, equals, given, of_component

_EMBEDDED = "the store is embedded: no port, no member"


def _member(flag: str, judge: Verdict) -> Callable[[ClusterInputs], Finding]:
    def examine(inputs: ClusterInputs) -> Finding:
        if inputs.apiserver is not None and inputs.apiserver.get("etcd-servers", "") in ("", "[]"):
            return Finding(State.NONE, _EMBEDDED)
        return of_component("etcd", flag, judge)(inputs)

    return examine


def _own_authority(inputs: ClusterInputs) -> Finding:
    if inputs.apiserver is None:
        return Finding(State.MANUAL, "compare etcd's authority with the cluster's")
    if inputs.apiserver.get("etcd-servers", "") in ("", "[]"):
        return Finding(State.NONE, _EMBEDDED)
    same = inputs.apiserver.get("etcd-cafile") == inputs.apiserver.get("client-ca-file")
    return Finding(State.FAIL, "etcd trusts the cluster's client authority") if same else Finding(State.PASS)


_NEVER = equals("", otherwise="certificates that nobody verifies")
CHECKS = (
    Check("2.1", "clients come by TLS", _member("cert-file", given("not set"))),
    Check("2.2", "clients show certificates", _member("client-cert-auth", equals("true", otherwise="they need none"))),
    Check("2.3", "no self-made certificates for clients", _member("auto-tls", _NEVER)),
    Check("2.4", "members talk by TLS", _member("peer-cert-file", given("not set"))),
    Check("2.5", "members show certificates", _member("peer-client-cert-auth", equals("true", otherwise="they need none"))),
    Check("2.6", "no self-made certificates for members", _member("peer-auto-tls", _NEVER)),
    Check("2.7", "etcd has an authority of its own", _own_authority),
)  # fmt: skip
