"""1.2: how the API server is started."""

from __future__ import annotations

from pybernetes.tools.audit_security.check import Check, Finding, State, passed
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs
from pybernetes.tools.audit_security.sections._flags import (
    at_least,
    equals,
    given,
    has,
    has_not,
    not_given,
    of_apiserver,
    words,
)

_DEFAULT_PLUGINS = ("NamespaceLifecycle", "ServiceAccount")
_WEAK = ("_CBC_", "_RC4_", "_3DES_")


def _anonymous(value: str) -> Finding:
    if value == "false":
        return passed()
    return Finding(State.WARN, "requests without credentials are system:anonymous: health and version only")


def _plugin(name: str) -> Check:
    def examine(inputs: ClusterInputs) -> Finding:
        if inputs.apiserver is None:
            return Finding(State.MANUAL, "its flags cannot be read: look at how it is started")
        on = words(inputs.apiserver.get("enable-admission-plugins", ""))
        off = words(inputs.apiserver.get("disable-admission-plugins", ""))
        if name not in off and (name in on or name in _DEFAULT_PLUGINS):
            return passed()
        return Finding(State.FAIL, f"{name} is not switched on")

    return Check(_PLUGINS[name], f"admission plugin {name} is on", examine)


_PLUGINS = {"ServiceAccount": "1.2.12", "NamespaceLifecycle": "1.2.13", "NodeRestriction": "1.2.14"}


def _etcd(flag: str) -> Check:
    def examine(inputs: ClusterInputs) -> Finding:
        if inputs.apiserver is not None and inputs.apiserver.get("etcd-servers", "") in ("", "[]"):
            return Finding(State.NONE, "the store is embedded: no connection leaves the process")
        return of_apiserver(flag, given(f"--{flag} is not set"))(inputs)

    number = "1.2.23" if flag == "etcd-certfile" else "1.2.26"
    return Check(number, f"--{flag}: TLS towards etcd", examine)


def _serving(value: str) -> Finding:
    return passed("a certificate of its own is made and renewed" if value in ("", "[]") else "")


def _ciphers(value: str) -> Finding:
    weak = [cipher for cipher in words(value) if any(part in cipher for part in _WEAK)]
    return Finding(State.FAIL, f"weak: {', '.join(weak)}") if weak else passed()


CHECKS = (
    Check("1.2.1", "requests without credentials are refused", of_apiserver("anonymous-auth", _anonymous)),
    Check("1.2.2", "no file of static tokens", of_apiserver("token-auth-file", not_given("tokens in a file never end"))),
    Check("1.2.3", "DenyServiceExternalIPs is on", of_apiserver("enable-admission-plugins", has(
        "DenyServiceExternalIPs", "services may claim any external address", state=State.WARN))),
    Check("1.2.4", "the API server has a client certificate for kubelets", of_apiserver(
        "kubelet-client-certificate", given("--kubelet-client-certificate is not set"))),
    Check("1.2.5", "certificates of kubelets are verified", of_apiserver(
        "kubelet-certificate-authority", given("--kubelet-certificate-authority is not set"))),
    Check("1.2.6", "authorization mode AlwaysAllow is not used", of_apiserver(
        "authorization-mode", has_not("AlwaysAllow", "everybody may do everything"))),
    Check("1.2.7", "authorization mode Node is used", of_apiserver(
        "authorization-mode", has("Node", "nodes are not confined to their own pods"))),
    Check("1.2.8", "authorization mode RBAC is used", of_apiserver("authorization-mode", has("RBAC", "no RBAC"))),
    Check("1.2.9", "admission plugin EventRateLimit is on", of_apiserver("enable-admission-plugins", has(
        "EventRateLimit", "off; events are bounded by priority and fairness only", state=State.WARN))),
    Check("1.2.10", "admission plugin AlwaysAdmit is off", of_apiserver(
        "enable-admission-plugins", has_not("AlwaysAdmit", "AlwaysAdmit is on"))),
    Check("1.2.11", "admission plugin AlwaysPullImages is on", of_apiserver("enable-admission-plugins", has(
        "AlwaysPullImages", "off: pods use images that the records of their node let them", state=State.WARN))),
    *(_plugin(name) for name in _PLUGINS),
    Check("1.2.15", "profiling is off", of_apiserver("profiling", lambda value: (
        Finding(State.FAIL, "--profiling is on") if value == "true" else passed()))),
    Check("1.2.16", "there is an audit log", of_apiserver("audit-log-path", given("--audit-log-path is not set", state=State.WARN))),
    Check("1.2.17", "audit logs are kept for 30 days", of_apiserver("audit-log-maxage", at_least(30, "less than 30 days"))),
    Check("1.2.18", "ten old audit logs are kept", of_apiserver("audit-log-maxbackup", at_least(10, "fewer than 10"))),
    Check("1.2.19", "audit logs of 100 MB", of_apiserver("audit-log-maxsize", at_least(100, "less than 100 MB"))),
    Check("1.2.20", "requests have a deadline", of_apiserver("request-timeout", lambda value: (
        Finding(State.FAIL, "no deadline") if value in ("0", "0s", "0.0") else passed(value or "60 s by default")))),
    Check("1.2.21", "tokens of deleted service accounts are refused", of_apiserver(
        "service-account-lookup", lambda value: passed() if value in ("", "true") else Finding(State.FAIL, "they are not looked up"))),
    Check("1.2.22", "service account tokens have keys of their own", of_apiserver("service-account-key-file", lambda value: (
        passed("made for this cluster alone" if value in ("", "[]") else "")))),
    _etcd("etcd-certfile"),
    Check("1.2.24", "the API server is reached by TLS only", of_apiserver("tls-cert-file", _serving)),
    Check("1.2.25", "client certificates are verified", of_apiserver("client-ca-file", lambda value: (
        passed("by the cluster's own authority" if value in ("", "[]") else "")))),
    _etcd("etcd-cafile"),
    Check("1.2.27", "secrets are encrypted at rest", of_apiserver("encryption-provider-config", given(
        "off: protect the store's folder and its disk", state=State.WARN))),
    Check("1.2.28", "encryption providers are strong", of_apiserver("encryption-provider-config", lambda value: (
        Finding(State.NONE, "nothing is encrypted") if value in ("", "[]") else Finding(State.MANUAL, "look at the file")))),
    Check("1.2.29", "ciphers are strong", of_apiserver("tls-cipher-suites", _ciphers)),
    Check("1.2.30", "service account tokens are not extended", of_apiserver(
        "service-account-extend-token-expiration", equals("false", otherwise="injected tokens live for a year", state=State.WARN))),
)  # fmt: skip
