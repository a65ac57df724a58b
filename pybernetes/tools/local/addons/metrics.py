"""metrics-server of a local cluster: it runs beside the API server, which reaches it over the loopback interface."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import API_SERVICES, SERVICES, Ref
from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess
from pybernetes.control_plane.metrics_server.metrics_server import MetricsServer, Options
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import ServingCertificates, own_pair
from pybernetes.runtime.aggregated_api import request_header_config
from pybernetes.runtime.delegated_auth import DelegatedAuth
from pybernetes.tools.kubeadm.addons.metrics_server import LABELS, NAME, access, api_service
from pybernetes.tools.kubeadm.locations import NAMESPACE
from pybernetes.tools.local.addons import addons

ACCOUNT = "system:serviceaccount:kube-system:metrics-server"
_ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where the cluster's authority is, how kubelets are reached, and how often."""

    certificates: Path
    kubelets: Dialer = direct
    resolution: float = 15.0


def registration(port: int, authority: bytes) -> list[tuple[Ref, Object]]:
    """Return what tells the API server where metrics-server answers, and whom it is signed by."""
    return [
        (SERVICES, {
            "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": LABELS},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [
                {"name": "https", "port": port, "protocol": "TCP", "appProtocol": "https"}]},
        }),
        (API_SERVICES, api_service(authority, port)),
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
    pair, authority = own_pair(folder, (f"{NAME}.{NAMESPACE}.svc", "localhost"), NAME)
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
