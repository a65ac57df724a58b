"""Two clusters to judge: one where all is as it should be, one where nothing is."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs, File, Process

_GOOD_FLAGS = {
    "anonymous-auth": "false", "token-auth-file": "", "kubelet-client-certificate": "c", "kubelet-certificate-authority": "a",
    "authorization-mode": "Node,RBAC", "audit-log-path": "/log", "audit-log-maxage": "30", "audit-log-maxbackup": "10",
    "enable-admission-plugins": "NodeRestriction,EventRateLimit,AlwaysPullImages,DenyServiceExternalIPs,ImagePolicyWebhook",
    "audit-log-maxsize": "100", "audit-policy-file": "/policy", "etcd-servers": "https://e:2379", "etcd-certfile": "c",
    "etcd-cafile": "e", "client-ca-file": "c", "encryption-provider-config": "/e", "profiling": "false",
    "service-account-extend-token-expiration": "false", "enable-bootstrap-token-auth": "false",
}  # fmt: skip
_BAD_FLAGS = {
    "anonymous-auth": "true", "token-auth-file": "/t", "authorization-mode": "AlwaysAllow", "profiling": "true",
    "enable-admission-plugins": "AlwaysAdmit", "disable-admission-plugins": "ServiceAccount,NamespaceLifecycle",
    "audit-log-maxage": "1", "audit-log-maxbackup": "x", "audit-log-maxsize": "1", "request-timeout": "0",
    "service-account-lookup": "false", "etcd-servers": "[http://e:2379]", "tls-cipher-suites": "[TLS_RSA_WITH_AES_128_CBC_SHA]",
    "service-account-extend-token-expiration": "true", "enable-bootstrap-token-auth": "true",
}  # fmt: skip
_GOOD_PARTS = {
    "kube-controller-manager": {"profiling": "false", "use-service-account-credentials": "true", "root-ca-file": "r",
                                "service-account-private-key-file": "k", "bind-address": "127.0.0.1"},
    "kube-scheduler": {"profiling": "false", "bind-address": "127.0.0.1"},
    "etcd": {"cert-file": "c", "client-cert-auth": "true", "peer-cert-file": "p", "peer-client-cert-auth": "true"},
}  # fmt: skip
_BAD_PARTS = {
    "kube-controller-manager": {"feature-gates": "RotateKubeletServerCertificate=false"},
    "kube-scheduler": {"profiling": "true"},
    "etcd": {"auto-tls": "true", "peer-auto-tls": "true"},
}
_GOOD_KUBELET: Object = {
    "authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": "c"}}, "authorization": {"mode": "Webhook"},
    "readOnlyPort": 0, "rotateCertificates": True, "serverTLSBootstrap": True, "podPidsLimit": 100, "seccompDefault": True,
}  # fmt: skip
_BAD_KUBELET: Object = {
    "authentication": {"anonymous": {"enabled": True}}, "authorization": {"mode": "AlwaysAllow"}, "readOnlyPort": 10255,
    "streamingConnectionIdleTimeout": "0s", "makeIPTablesUtilChains": False, "eventRecordQPS": -1, "rotateCertificates": False,
    "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA"], "podPidsLimit": -1,
}  # fmt: skip


def _named(name: str, namespace: str = "", **rest: Any) -> Object:
    return {"metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, **rest}


def _rule(group: str, resource: str, *verbs: str) -> Object:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


def _good_pod() -> Object:
    whole = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    own = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return _named("p", "team", spec={
        "securityContext": whole, "automountServiceAccountToken": False, "containers": [{"name": "c", "securityContext": own}]})  # fmt: skip


def _bad_pod() -> Object:
    context = {"privileged": True, "capabilities": {"add": ["SYS_ADMIN"]}}
    container = {
        "name": "c",
        "securityContext": context,
        "ports": [{"hostPort": 80}],
        "envFrom": [{"secretRef": {"name": "s"}}],
    }
    return _named("p", "default", spec={
        "hostPID": True, "hostIPC": True, "hostNetwork": True, "volumes": [{"name": "v", "hostPath": {"path": "/"}}],
        "containers": [container, {"name": "bare"}]})  # fmt: skip


def good() -> ClusterInputs:
    """Return a cluster without fault."""
    files = {what: [File(what, 0o600, 0)] for what in (
        "manifests", "network", "data", "kubeconfig", "component kubeconfigs", "certificates", "keys",
        "node kubeconfigs", "node configuration")}  # fmt: skip
    namespace = _named("team")
    namespace["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": "restricted"}
    objects = {
        "namespaces": [namespace, _named("kube-system")], "pods": [_good_pod()], "networkpolicies": [_named("n", "team")],
        "clusterroles": [_named("system:x", rules=[_rule("*", "*", "*")]), _named("few", rules=[_rule("", "pods", "get")])],
    }  # fmt: skip
    return ClusterInputs(
        _GOOD_FLAGS, _GOOD_PARTS, {"n": _GOOD_KUBELET}, objects, files, process=Process(7, 1 << 2, True)
    )


def bad() -> ClusterInputs:
    """Return a cluster in which every recommendation is ignored."""
    files = {what: [File(what, 0o777, 7)] for what in (good().files or {})}
    roles = [
        _named("all", rules=[_rule("*", "*", "*")]),
        _named("scale", rules=[_rule("", "*/proxy", "get")]),
    ]
    subject = [
        {"kind": "ServiceAccount", "name": "default", "namespace": "a"},
        {"kind": "Group", "name": "system:masters"},
    ]
    binding = _named("b", roleRef={"kind": "ClusterRole", "name": "cluster-admin"}, subjects=subject)
    objects = {
        "namespaces": [_named("default")], "pods": [_bad_pod()], "clusterroles": roles, "clusterrolebindings": [binding],
        "serviceaccounts": [_named("a", "default", secrets=[{"name": "a-token"}])],
    }  # fmt: skip
    return ClusterInputs(
        _BAD_FLAGS, _BAD_PARTS, {"n": _BAD_KUBELET}, objects, files, process=Process(0, 1 << 21, False)
    )
