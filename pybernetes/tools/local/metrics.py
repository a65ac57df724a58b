"""metrics-server of a local cluster: it runs beside the API server, which reaches it over the loopback interface."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Ref,
)
from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess
from pybernetes.control_plane.metrics_server.metrics_server import MetricsServer, Options
from pybernetes.lib import tls
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.lib.serving_certificates import ServingCertificates, own_pair
from pybernetes.runtime.aggregated_api import request_header_config
from pybernetes.runtime.delegated_auth import DelegatedAuth
from pybernetes.tools.local import addons

ACCOUNT = "system:serviceaccount:kube-system:metrics-server"
_NAME, _NAMESPACE = "metrics-server", "kube-system"
_LABELS = {"k8s-app": _NAME}
_ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where the cluster's authority is, how kubelets are reached, and how often."""

    certificates: Path
    kubelets: Dialer = direct
    resolution: float = 15.0


def access() -> list[tuple[Ref, Object]]:
    """Return upstream's account and roles: who may see the metrics, and what metrics-server may see."""
    reader = "system:aggregated-metrics-reader"
    aggregated = {
        f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in ("view", "edit", "admin")
    }
    return [
        (SERVICE_ACCOUNTS, {"metadata": {"name": _NAME, "namespace": _NAMESPACE, "labels": _LABELS}}),
        (CLUSTER_ROLES, {
            "metadata": {"name": reader, "labels": _LABELS | aggregated},
            "rules": [{"apiGroups": ["metrics.k8s.io"], "resources": ["pods", "nodes"], "verbs": ["get", "list", "watch"]}],
        }),
        (CLUSTER_ROLES, {
            "metadata": {"name": "system:metrics-server", "labels": _LABELS},
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
    meta = {"name": name, "labels": _LABELS}
    if ref is ROLE_BINDINGS:
        meta["namespace"] = _NAMESPACE
    return ref, {
        "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": _NAME, "namespace": _NAMESPACE}],
    }


def registration(port: int, authority: bytes) -> list[tuple[Ref, Object]]:
    """Return what tells the API server where metrics-server answers, and whom it is signed by."""
    meta = {"name": _NAME, "namespace": _NAMESPACE}
    return [
        (SERVICES, {
            "metadata": {**meta, "labels": _LABELS},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [
                {"name": "https", "port": port, "protocol": "TCP", "appProtocol": "https"}]},
        }),
        (API_SERVICES, {
            "metadata": {"name": "v1beta1.metrics.k8s.io", "labels": _LABELS},
            "spec": {
                "group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
                "service": {**meta, "port": port}, "caBundle": base64.b64encode(authority).decode(),
            },
        }),
    ]  # fmt: skip


def _kubelet_client(settings: MetricsSettings) -> tuple[Path, Path]:
    """Return the files of the certificate that kubelets know metrics-server by, made once."""
    certificate, key = (
        settings.certificates / f"metrics-server-kubelet-client.{end}" for end in ("crt", "key")
    )
    tls.ensure_client(certificate, key, settings.certificates, ACCOUNT)
    return certificate, key


async def run(client: Client, administrator: Client, settings: MetricsSettings) -> None:
    """Run metrics-server until cancelled."""
    await addons.apply(administrator, access())
    folder = settings.certificates
    pair, authority = own_pair(folder, (f"{_NAME}.{_NAMESPACE}.svc", "localhost"), _NAME)
    trusted = await request_header_config.look_up(client, folder)
    auth = DelegatedAuth(client, clients=trusted.clients, proxy=trusted.proxy)
    kubelet_tls = tls.client_context(authority)
    kubelet_tls.load_cert_chain(*_kubelet_client(settings))
    kubelets = KubeletAccess(
        lambda: kubelet_tls, address_types=("InternalIP", "Hostname"), use_node_status_port=True,
        dialer=settings.kubelets,
    )  # fmt: skip
    server = MetricsServer(client, auth, Options(kubelets, settings.resolution))
    try:
        context = ServingCertificates(pair, bundles=trusted.bundles).context
        port = await server.start(_ADDRESS, 0, context)
        await addons.apply(administrator, registration(port, authority.read_bytes()))
        await asyncio.get_running_loop().create_future()  # it answers for as long as this process lives
    finally:
        await server.stop()
