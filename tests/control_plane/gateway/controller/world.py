"""A cluster with a gateway: an API server in this process, Envoy beside it, backends on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import re
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.refs import ENDPOINT_SLICES, SERVICES
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.control_plane.gateway import access
from pybernetes.control_plane.gateway.controller import addresses
from pybernetes.control_plane.gateway.controller.gateway import Gateway, Options
from pybernetes.control_plane.gateway.definitions import definitions
from pybernetes.control_plane.gateway.kinds import NAMESPACE
from pybernetes.runtime.manager import Manager
from tests.cluster import Cluster
from tests.support import eventually

SECONDS = 60.0


def own_address() -> str:
    """Return an address of this machine that endpoints may have; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        address: str = probe.getsockname()[0]
        return address


def free_ports(number: int) -> range:
    """Return ports in a row that are free now."""
    for first in range(28300, 28990, number):
        taken = False
        for port in range(first, first + number):
            with socket.socket() as probe:
                taken |= probe.connect_ex((own_address(), port)) == 0
        if not taken:
            return range(first, first + number)
    raise OSError("no ports are free")


class World:
    """A cluster with a gateway."""

    def __init__(self, cluster: Cluster, gateway: Gateway) -> None:
        self.client, self.gateway, self.address = cluster.client, gateway, own_address()
        self.servers: list[asyncio.Server] = []

    async def backend(self, name: str, namespace: str = "default", words: str = "") -> int:
        """Make a Service with a server behind it that answers with its name and what it was asked; return its port."""
        port = await self.server(words or name)
        spec = {"ports": [{"name": "web", "port": 80, "targetPort": 8080, "protocol": "TCP"}]}
        await self.client.create(SERVICES, {"metadata": {"name": name, "namespace": namespace}, "spec": spec})
        await self.endpoints(name, namespace, port)
        return port

    async def server(self, words: str) -> int:
        """Start a server and return its port."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    asked = await reader.readuntil(b"\r\n\r\n")
                    body = words.encode() + b"\n" + asked
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            writer.close()

        server = await asyncio.start_server(answer, self.address, 0)
        self.servers.append(server)
        port: int = server.sockets[0].getsockname()[1]
        return port

    async def endpoints(self, name: str, namespace: str, *ports: int) -> None:
        """Give a Service endpoints at ports of this machine."""
        for index in range(2):
            slice_ = {
                "metadata": {
                    "name": f"{name}-{index}", "namespace": namespace, "labels": {"kubernetes.io/service-name": name},
                },
                "addressType": "IPv4",
                "endpoints": [{"addresses": [self.address]}] if index < len(ports) else [],
                "ports": [{"name": "web", "port": ports[index] if index < len(ports) else 1, "protocol": "TCP"}],
            }  # fmt: skip
            await self.client.apply(ENDPOINT_SLICES, slice_, manager="test", force=True)

    async def bound(self, entry: str, port: int) -> int:
        """Return the proxy's port of an entry's port, after the entry got an address as a cloud would give it."""
        name = addresses.service_name(entry)

        async def service() -> Object | None:
            items = (await self.client.list(SERVICES, NAMESPACE)).items
            return next((item for item in items if item["metadata"]["name"] == name), None)

        async def has_port() -> bool:
            made = await service()
            return made is not None and port in addresses.bound_ports(made)

        await eventually(has_port, SECONDS)
        given = {"status": {"loadBalancer": {"ingress": [{"ip": "198.51.100.7"}]}}}
        await self.client.patch_status(SERVICES, name, given, NAMESPACE)
        return addresses.bound_ports(await service())[port]

    async def ask(
        self, port: int, host: str, path: str = "/", headers: str = "", context: ssl.SSLContext | None = None
    ) -> tuple[int, str]:
        """Return status and all the rest of the proxy's answer; 0 if it closes the connection."""
        try:
            reader, writer = await asyncio.open_connection(
                self.address, port, ssl=context, server_hostname=host if context else None
            )
        except (ConnectionError, ssl.SSLError):
            return 0, ""
        try:
            writer.write(
                f"GET {path} HTTP/1.1\r\nhost: {host}\r\n{headers}connection: close\r\n\r\n".encode()
            )
            text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            size = re.search(r"content-length: (\d+)", text)
            text += (await reader.readexactly(int(size[1]))).decode("latin-1") if size else ""
        except (ConnectionError, asyncio.IncompleteReadError):
            return 0, ""
        finally:
            writer.close()
        return int(text.split()[1]), text

    async def eventually_answers(
        self, port: int, host: str, status: int, words: str = "", **more: object
    ) -> str:
        """Wait for an answer with a status and words in it."""
        answers: list[tuple[int, str]] = []

        async def answered() -> bool:
            answers.append(await self.ask(port, host, **more))  # type: ignore[arg-type]
            return answers[-1][0] == status and words in answers[-1][1]

        await eventually(answered, SECONDS)
        return answers[-1][1]

    async def conditions(self, kind: object, name: str) -> dict[str, tuple[str, str]]:
        """Return the conditions of a route for its first parent, or of a Gateway."""
        status = (await self.client.get(kind, name, "default")).get("status", {})  # type: ignore[arg-type]
        entries = (
            status["parents"][0]["conditions"] if status.get("parents") else status.get("conditions", ())
        )
        return {entry["type"]: (entry["status"], entry["reason"]) for entry in entries}


@contextlib.asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    """Run a gateway with the rights that it has in a cluster, and no more."""
    async with Cluster("--authorization-mode=RBAC") as cluster:
        for kind, obj in (*definitions(), *access.access()):
            await cluster.client.apply(kind, copy.deepcopy(obj), manager="test")

        async def has_classes() -> bool:
            with contextlib.suppress(Exception):
                for kind, obj in access.classes():
                    await cluster.client.apply(kind, copy.deepcopy(obj), manager="test")
                return True
            return False

        await eventually(has_classes, SECONDS)
        client = cluster.local_client(User(access.USER, groups=(AUTHENTICATED,)))
        options = Options(folder / "gateway", own_address(), free_ports(12))
        gateway = Gateway(Manager(client), options)
        running = asyncio.create_task(gateway.run())
        made = World(cluster, gateway)
        try:
            yield made
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            for server in made.servers:
                server.close()
            await client.close()
