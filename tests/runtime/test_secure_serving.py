"""Whom the API server trusts, looked up in the cluster: an administrator's certificate opens a component's pages."""

from __future__ import annotations

import argparse
import asyncio
import ssl
from pathlib import Path

from pybernetes.client.client import Client
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib import flags
from pybernetes.lib.tls import tls
from pybernetes.runtime import Manager, secure_serving
from tests.cluster import Cluster
from tests.support import eventually


async def status_of(port: int, certificate: Path) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(certificate)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    try:
        return (await reader.read(64)).partition(b"\r\n")[0]
    finally:
        writer.close()


async def test_an_administrators_certificate_is_known_without_a_file(tmp_path: Path) -> None:
    async with Cluster("--authorization-mode=RBAC") as cluster:
        folder = cluster.directory
        authority = tls.Pair((folder / "ca.crt").read_bytes(), (folder / "ca.key").read_bytes())
        own = tls.issue(authority, "admin", organizations=["system:masters"], client=True)
        pem = tmp_path / "admin.pem"
        pem.write_bytes(own.certificate + own.key)
        options = flags.defaults(serving_flags(0), bind_address="127.0.0.1")
        manager = Manager(cluster.client)
        port = await serve(manager, options, cluster.client)
        try:

            async def is_let_in() -> bool:
                try:
                    return await status_of(port, pem) == b"HTTP/1.1 200 OK"
                except (ssl.SSLError, ConnectionError):  # nobody is trusted before the first look
                    return False

            await eventually(is_let_in)
        finally:
            await manager.stop_serving()


async def serve(manager: Manager, options: argparse.Namespace, client: Client) -> int:
    return await secure_serving.serve(manager, options, "kube-scheduler", client, look_up=True)
