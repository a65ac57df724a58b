"""A small world of network namespaces: a node with two pods on a bridge, a pod elsewhere, and somebody outside.

Each has an address of both families: ``six`` gives that of IPv6 for one of IPv4.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address

import pytest

from pybernetes.tools.local.network import network

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_ALL_PROTOCOLS = 3
NODE_IP, OUTSIDE_IP, GATEWAY = "172.29.0.1", "172.29.0.9", "10.244.1.1"
PODS = {"a": "10.244.1.2", "b": "10.244.1.3", "far": "10.244.2.2"}
POD_RANGE, SERVICE_RANGE = "10.244.0.0/16", "10.96.0.0/16"
_MAPPED = "::ffff:"  # begins an address of IPv4 as a socket of both families shows it
_MISSING = [name for name in ("ip", "iptables", "nft", "conntrack") if shutil.which(name) is None]
needs_namespaces = pytest.mark.skipif(
    (os.geteuid() != 0 or bool(_MISSING)) and not os.environ.get("CI"),
    reason=f"needs root and {', '.join(_MISSING) or 'network namespaces'}",
)


def six(address: str) -> str:
    """Return the address of IPv6 that stands for one of IPv4: fd00 and its last three numbers."""
    _, *last = address.split(".")
    return str(IPv6Address(f"fd00:{last[0]}:{last[1]}::{last[2]}"))


SIX = {"pods": "fd00:244::/32", "here": "fd00:244:1::/64", "services": "fd00:96::/112"}


def command(*words: str) -> str:
    """Run a program; its complaint becomes the error."""
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


@contextlib.contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Yield this thread, and what it starts, is in a network namespace for a while; sockets made there stay there."""
    with open("/proc/thread-self/ns/net") as before, open(f"/run/netns/{namespace}") as there:
        _enter(there.fileno())
        try:
            yield
        finally:
            _enter(before.fileno())


def _enter(descriptor: int) -> None:
    if _LIBC.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _both(address: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what ``ip address add`` is told for both families."""
    return (f"{address}/24",), (f"{six(address)}/64", "nodad")


class World:
    """The namespaces, by short names: ``node``, ``a``, ``b``, ``far`` and ``outside``."""

    def __init__(self) -> None:
        self.prefix = f"proxytest{os.getpid()}"
        self.names = {name: f"{self.prefix}-{name}" for name in ("node", *PODS, "outside")}
        self._servers: list[asyncio.AbstractServer | asyncio.DatagramTransport] = []

    def __enter__(self) -> World:
        for name in self.names.values():
            command("ip", "netns", "add", name)
            command("ip", "-netns", name, "link", "set", "lo", "up")
        node = ("ip", "-netns", self.names["node"])
        command(*node, "link", "add", "cni0", "type", "bridge")
        for own in _both(GATEWAY):
            command(*node, "address", "add", *own, "dev", "cni0")
        command(*node, "link", "set", "cni0", "up")
        for pod in ("a", "b"):
            self._link(pod, f"veth{pod}", PODS[pod], GATEWAY)
            command(*node, "link", "set", f"veth{pod}", "master", "cni0")
            command(
                "bridge", "-netns", self.names["node"], "link", "set", "dev", f"veth{pod}", "hairpin", "on"
            )
        for other, link, address, gateway in (
            ("far", "vethfar", PODS["far"], "10.244.2.1"),
            ("outside", "eth0", OUTSIDE_IP, NODE_IP),
        ):
            self._link(other, link, address, gateway)
            for own in _both(gateway):
                command(*node, "address", "add", *own, "dev", link)
        for way in (OUTSIDE_IP, six(OUTSIDE_IP)):
            command(*node, "route", "add", "default", "via", way)
        # As a local cluster does it: packets for Services that no rule takes up go nowhere.
        network.keep_services_inside(
            self.names["node"], [SERVICE_RANGE, SIX["services"]], [NODE_IP, six(NODE_IP)]
        )
        settings = ("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        command("ip", "netns", "exec", self.names["node"], "sysctl", "-qw", *settings)
        return self

    def _link(self, name: str, other: str, address: str, gateway: str) -> None:
        inner = ("ip", "-netns", self.names[name])
        command("ip", "-netns", self.names["node"], "link", "add", other, "type", "veth",
                "peer", "name", "eth0", "netns", self.names[name])  # fmt: skip
        command("ip", "-netns", self.names["node"], "link", "set", other, "up")
        command(*inner, "link", "set", "eth0", "up")
        for own, way in zip(_both(address), (gateway, six(gateway)), strict=True):
            command(*inner, "address", "add", *own, "dev", "eth0")
            command(*inner, "route", "add", "default", "via", way)

    def __exit__(self, *error: object) -> None:
        for name in self.names.values():
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    # -- programs in the namespaces ----------------------------------------------------------------------

    async def serve(self, pod: str, port: int = 8080) -> None:
        """A pod answers with its name and the address that it sees, over TCP and over UDP."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer = writer.get_extra_info("peername")[0].removeprefix(_MAPPED)
            writer.write(f"{pod} {peer}".encode())
            await writer.drain()
            writer.close()

        class Datagrams(asyncio.DatagramProtocol):
            def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
                self.transport = transport

            def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
                self.transport.sendto(f"{pod} {address[0].removeprefix(_MAPPED)}".encode(), address)

        stream = self.socket_in(pod, socket.SOCK_STREAM, socket.AF_INET6)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        datagram = self.socket_in(pod, socket.SOCK_DGRAM, socket.AF_INET6)
        for opened in (stream, datagram):
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            opened.bind(("::", port))
        self._servers.append(await asyncio.start_server(answer, sock=stream))
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Datagrams, sock=datagram)
        self._servers.append(transport)

    def socket_in(self, where: str, kind: int, family: int = socket.AF_INET) -> socket.socket:
        """Return a socket in a namespace."""
        with inside(self.names[where]):
            opened = socket.socket(family, kind)
        opened.setblocking(False)
        return opened

    def raw_socket_in(self, where: str, protocol: int, family: int) -> socket.socket:
        """Return a socket for the bare packets of a protocol in a namespace; the family is 4 or 6."""
        with inside(self.names[where]):
            kind = socket.AF_INET6 if family == 6 else socket.AF_INET
            opened = socket.socket(kind, socket.SOCK_RAW, protocol)
        opened.setblocking(False)
        return opened

    async def ask(self, where: str, address: str, port: int, timeout: float = 30.0) -> tuple[str, str]:
        """Return who answers over TCP, and what address it saw; OSError if nobody does."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        client = self.socket_in(where, socket.SOCK_STREAM, family)
        try:
            loop = asyncio.get_running_loop()
            await asyncio.wait_for(loop.sock_connect(client, (address, port)), timeout)
            text = (await asyncio.wait_for(loop.sock_recv(client, 100), timeout)).decode()
        finally:
            client.close()
        name, _, peer = text.partition(" ")
        return name, peer

    async def tell(self, client: socket.socket, address: str, port: int, timeout: float = 30.0) -> str:
        """Return who answers a datagram from a socket."""
        loop = asyncio.get_running_loop()
        await loop.sock_sendto(client, b"?", (address, port))
        return (await asyncio.wait_for(loop.sock_recv(client, 100), timeout)).decode().partition(" ")[0]

    @contextlib.contextmanager
    def listen(self, where: str) -> Iterator[Callable[[], list[bytes]]]:
        """Return a function that tells of all packets that came to a namespace since."""
        with inside(self.names[where]):
            packets_socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        packets_socket.setblocking(False)

        def heard() -> list[bytes]:
            packets = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    packets.append(packets_socket.recv(65535))
            return packets

        try:
            yield heard
        finally:
            packets_socket.close()

    def stop(self) -> None:
        """End the programs."""
        for server in self._servers:
            server.close()
