"""An API server behind a test's API server: how it is registered, and what it trusts."""

from __future__ import annotations

import asyncio
import base64
import signal
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pybernetes.client.refs import API_SERVICES, SERVICES
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import KeyPair, ServingCertificates
from pybernetes.runtime.aggregated_api.request_header_config import Trusted, look_up
from pybernetes.runtime.delegated_auth import DelegatedAuth
from tests.cluster import Cluster
from tests.cmd.test_kube_scheduler import a_free_port, get
from tests.support import eventually


async def trust(
    cluster: Cluster, directory: Path, service: str
) -> tuple[DelegatedAuth, ssl.SSLContext, bytes]:
    """Return what such a server asks about callers, what it serves with, and who vouches for it."""

    async def published() -> Trusted | None:
        configured = await look_up(cluster.client, directory)
        return configured if configured.proxy is not None else None

    trusted = await eventually(published)
    assert trusted is not None
    certificate, key, authority = tls.ensure_serving(directory, [f"{service}.kube-system.svc"], service)
    context = ServingCertificates(KeyPair(certificate, key), bundles=trusted.bundles).context
    auth = DelegatedAuth(cluster.client, clients=trusted.clients, proxy=trusted.proxy)
    return auth, context, authority.read_bytes()


async def register(
    cluster: Cluster, service: str, group: str, version: str, port: int, authority: bytes
) -> None:
    """Tell the API server of a server, and wait until it is available."""
    meta = {"name": service, "namespace": "kube-system"}
    alias = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
    await cluster.client.apply(SERVICES, {"metadata": meta, "spec": alias}, manager="test", force=True)
    name = f"{version}.{group}"
    spec = {
        "group": group, "version": version, "groupPriorityMinimum": 100, "versionPriority": 100,
        "caBundle": base64.b64encode(authority).decode(), "service": {**meta, "port": port},
    }  # fmt: skip
    await cluster.client.apply(
        API_SERVICES, {"metadata": {"name": name}, "spec": spec}, manager="test", force=True
    )

    async def available() -> bool:
        conditions = (await cluster.client.get(API_SERVICES, name)).get("status", {}).get("conditions", ())
        return any(condition["status"] == "True" for condition in conditions)

    await eventually(available)


@asynccontextmanager
async def program(name: str, cluster: Cluster, log: Path, *flags: str) -> AsyncIterator[int]:
    """Run an aggregated server as a process of its own; yield its port when it is ready, and see it stop in order."""
    port = a_free_port()
    command = [sys.executable, "-m", "pybernetes.cmd.main", name, f"--kubeconfig={cluster.kubeconfig()}",
               "--bind-address=127.0.0.1", f"--secure-port={port}", *flags]  # fmt: skip
    for asked in ("authentication", "authorization"):
        command.append(f"--{asked}-kubeconfig={cluster.kubeconfig()}")
    with log.open("w") as file:
        process = await asyncio.create_subprocess_exec(*command, stdout=file, stderr=file)
    try:

        async def is_ready() -> bool:
            assert process.returncode is None, log.read_text()
            return (await asyncio.to_thread(get, port, "/readyz"))[0] == 200

        await eventually(is_ready, seconds=60)
        yield port
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 60) == 0, log.read_text()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
