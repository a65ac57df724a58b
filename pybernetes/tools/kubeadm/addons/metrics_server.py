"""metrics-server: a Deployment behind the API server, which trusts it by a certificate of the cluster's authority.

Not every cluster has it: it reaches kubelets over TLS that is verified, and those of kubeadm sign their own certificates
unless they are told to ask for one (``serverTLSBootstrap``).
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import yaml

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.client.refs import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    ROLE_BINDINGS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Ref,
)
from pybernetes.lib.tls.tls import Pair
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm import certificate_files, patches
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import CONTROL_PLANE_LABEL, NAMESPACE
from pybernetes.tools.kubeadm.objects import Objects

NAME = "metrics-server"
LABELS = {"k8s-app": NAME}
_SECRET = "metrics-server-certs"
_FOLDER = "/etc/metrics-server"
_PORT = 10250


def access() -> list[tuple[Ref, Object]]:
    """Return upstream's account and roles: who may see the metrics, and what metrics-server may see."""
    reader = "system:aggregated-metrics-reader"
    aggregated = {
        f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in ("view", "edit", "admin")
    }
    return [
        (SERVICE_ACCOUNTS, {"metadata": {"name": NAME, "namespace": NAMESPACE, "labels": LABELS}}),
        (CLUSTER_ROLES, {
            "metadata": {"name": reader, "labels": LABELS | aggregated},
            "rules": [{"apiGroups": ["metrics.k8s.io"], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]}],
        }),
        (CLUSTER_ROLES, {
            "metadata": {"name": "system:metrics-server", "labels": LABELS},
            "rules": [
                {"apiGroups": [""], "resources": ["nodes/metrics"], "verbs": ["get"]},
                {"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]},
            ],
        }),
        _bound(CLUSTER_ROLE_BINDINGS, "system:metrics-server", "ClusterRole", "system:metrics-server"),
        _bound(CLUSTER_ROLE_BINDINGS, "metrics-server:system:auth-delegator", "ClusterRole", "system:auth-delegator"),
        _bound(ROLE_BINDINGS, "metrics-server-auth-reader", "Role", "extension-apiserver-authentication-reader"),
    ]  # fmt: skip


def _bound(ref: Ref, name: str, kind: str, role: str) -> tuple[Ref, Object]:
    meta: Object = {"name": name, "labels": LABELS}
    if ref is ROLE_BINDINGS:
        meta["namespace"] = NAMESPACE
    return ref, {
        "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    }


def api_service(authority: bytes, port: int = 443) -> Object:
    """Return what tells the API server where metrics-server answers, and whom it is signed by."""
    return {
        "metadata": {"name": "v1beta1.metrics.k8s.io", "labels": LABELS},
        "spec": {
            "group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "service": {"name": NAME, "namespace": NAMESPACE, "port": port},
            "caBundle": base64.b64encode(authority).decode(),
        },
    }  # fmt: skip


def deployment(cluster: Object) -> Object:
    """Return the Deployment."""
    container = {
        "name": NAME,
        # One image has all of Pybernetes, and every node has this one.
        "image": images.component("kube-proxy", cluster["kubernetesVersion"], cluster["imageRepository"]),
        "imagePullPolicy": "IfNotPresent",
        "command": [
            "/usr/local/bin/metrics-server",
            f"--secure-port={_PORT}",
            f"--tls-cert-file={_FOLDER}/tls.crt",
            f"--tls-private-key-file={_FOLDER}/tls.key",
            "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
            "--kubelet-use-node-status-port",
            "--metric-resolution=15s",
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
        "ports": [{"name": "https", "containerPort": _PORT, "protocol": "TCP"}],
        "readinessProbe": _probe("/readyz"),
        "livenessProbe": {**_probe("/livez"), "initialDelaySeconds": 20},
        "securityContext": {
            "readOnlyRootFilesystem": True, "runAsNonRoot": True, "runAsUser": 1000,
            "allowPrivilegeEscalation": False, "seccompProfile": {"type": "RuntimeDefault"},
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "tmp-dir", "mountPath": "/tmp"},
            {"name": "certs", "mountPath": _FOLDER, "readOnly": True},
        ],
    }  # fmt: skip
    pod = {
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": NAME,
        "securityContext": {"fsGroup": 1000},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [
            {"key": "CriticalAddonsOnly", "operator": "Exists"},
            {"key": CONTROL_PLANE_LABEL, "effect": "NoSchedule"},
        ],
        "containers": [container],
        "volumes": [
            {"name": "tmp-dir", "emptyDir": {}},
            {"name": "certs", "secret": {"secretName": _SECRET, "defaultMode": 0o440}},
        ],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": LABELS},
        "spec": {
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}},
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def _probe(path: str) -> Object:
    return {
        "httpGet": {"path": path, "port": "https", "scheme": "HTTPS"},
        "periodSeconds": 10,
        "failureThreshold": 3,
    }


def service() -> Object:
    """Return the Service, by which the API server reaches it."""
    port = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": "https", "appProtocol": "https"}
    return {
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": LABELS},
        "spec": {"ports": [port], "selector": LABELS},
    }


def _certificate(cluster: Object, certificates: Path) -> tuple[Object, Pair]:
    """Return the Secret with a new serving certificate, and the authority that signed it."""
    authority = certificate_files.read_pair(certificates, "ca")
    if authority is None:
        raise KubeadmError(
            f"{certificates / 'ca'}.crt and ca.key are needed to sign the certificate of metrics-server"
        )
    host = f"{NAME}.{NAMESPACE}.svc"
    pair = certificate_files.issue(
        authority,
        host,
        algorithm=cluster["encryptionAlgorithm"],
        seconds=durations.parse_duration(cluster["certificateValidityPeriod"]),
        names=(host,),
        server=True,
    )
    texts = {"tls.crt": pair.certificate, "tls.key": pair.key}
    return {
        "metadata": {"name": _SECRET, "namespace": NAMESPACE, "labels": LABELS},
        "type": "kubernetes.io/tls",
        "data": {name: base64.b64encode(text).decode() for name, text in texts.items()},
    }, authority


def kubelets_ask(config_map: Object | None) -> bool:
    """Return whether kubelets ask the cluster for their serving certificates, by the ConfigMap kubelet-config."""
    try:
        configuration = yaml.safe_load((config_map or {})["data"]["kubelet"])
        return bool(configuration["serverTLSBootstrap"])
    except (KeyError, TypeError, yaml.YAMLError):
        return False


async def install(
    objects: Objects, cluster: Object, certificates: Path, folder: Path | None, say: Callable[[str], None]
) -> None:
    """Write the objects of metrics-server, with a new certificate each time."""
    secret, authority = _certificate(cluster, certificates)
    for kind, obj in access():
        await (objects.create_once if kind is SERVICE_ACCOUNTS else objects.ensure)(kind, obj)
    await objects.ensure(SECRETS, secret)
    await objects.ensure(
        DEPLOYMENTS, patches.patched("metricsserverdeployment", deployment(cluster), folder, say)
    )
    await objects.create_once(SERVICES, service())
    await objects.ensure(API_SERVICES, api_service(authority.certificate))
    if not kubelets_ask(await objects.get(CONFIG_MAPS, "kubelet-config", NAMESPACE)):
        say(
            "[addons] WARNING: metrics-server verifies the certificates of kubelets, and these sign their own: "
            "set serverTLSBootstrap in the KubeletConfiguration"
        )
    say("[addons] Applied addon: metrics-server")
