"""kube-dns and other name servers on real sockets, and somebody who asks them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.node.dns import records
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.node.dns.kube_dns import KubeDns, Options
from pybernetes.node.dns.lookup import Lookup
from pybernetes.node.dns.resolver import Resolver
from pybernetes.node.dns.server import Server
from pybernetes.tools.local.addons import addons
from pybernetes.tools.local.addons import dns as local_dns
from tests.cluster import Cluster
from tests.node.dns.zone import question, texts
from tests.support import eventually


async def ask(port: int, name: str, kind: str = "A", size: int = 0) -> tuple[int, list[str], bool]:
    """Return the code, the records and whether there are more of them, over UDP."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.connect(("127.0.0.1", port))
        await loop.sock_sendall(sock, question(name, kind, size))
        async with asyncio.timeout(60):
            answer = await loop.sock_recv(sock, 65535)
    return answer[3] & 15, texts(answer), bool(answer[2] & 2)


async def ask_tcp(port: int, *questions: bytes) -> list[bytes]:
    """Return the answers to questions over one TCP connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(len(message).to_bytes(2) + message for message in questions))
    answers = [await reader.readexactly(int.from_bytes(await reader.readexactly(2))) for _ in questions]
    writer.close()
    return answers


@contextlib.asynccontextmanager
async def other(
    zone: str, *services: dict[str, Any], slices: tuple[dict[str, Any], ...] = ()
) -> AsyncIterator[Server]:
    """Yield a name server for another zone."""
    table = AnswerTable(zone)
    for number, obj in enumerate(services):
        table.set_service(str(number), records.of_service(obj, slices, table.zone))
    server = Server(Resolver(Lookup(table)))
    await server.start("127.0.0.1", 0)
    try:
        yield server
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def running(cluster: Cluster, **options: Any) -> AsyncIterator[KubeDns]:
    """Yield kube-dns as the service account that it has in a cluster."""
    await addons.apply(cluster.client, list(local_dns.roles()))
    account = User(local_dns.ACCOUNT, groups=("system:serviceaccounts", AUTHENTICATED))
    kube_dns = KubeDns(cluster.local_client(account), Options(port=0, nameservers=(), **options))
    await kube_dns.start()
    task = asyncio.create_task(kube_dns.run())
    try:
        await eventually(lambda: kube_dns.ready)
        yield kube_dns
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await kube_dns.stop()
