"""The etcd of a cluster whose control planes have it stacked: who its members are, and how a machine joins and leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient
from pybernetes.control_plane.store.drivers.etcd.members import Members
from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import NAMESPACE

_ANNOTATION = "kubeadm.kubernetes.io/etcd.advertise-client-urls"


async def endpoints(client: Client) -> list[str]:
    """Return where clients reach the members, as the mirror pods of etcd tell."""
    try:
        page = await client.list(PODS, NAMESPACE, labels="component=etcd,tier=control-plane")
    except (StatusError, OSError) as error:
        raise KubeadmError(f"error retrieving the etcd pods: {error}") from None
    urls = [(pod["metadata"].get("annotations") or {}).get(_ANNOTATION, "") for pod in page.items]
    return sorted({url for url in urls if url})


@asynccontextmanager
async def members(servers: list[str], certificates: Path, seconds: float) -> AsyncIterator[Members]:
    """Give the members of the etcd at some addresses; errors are told as KubeadmError."""
    if not servers:
        raise KubeadmError(
            "could not find any etcd endpoints: no etcd pod of the control plane is known to the API server"
        )
    try:
        client = EtcdClient(
            servers,
            cafile=str(certificates / "etcd" / "ca.crt"),
            certfile=str(certificates / "etcd" / "healthcheck-client.crt"),
            keyfile=str(certificates / "etcd" / "healthcheck-client.key"),
        )
        try:
            yield Members(client, seconds)
        finally:
            await client.close()
    except StoreError as error:
        raise KubeadmError(f"etcd cluster is not healthy: {error}") from None
