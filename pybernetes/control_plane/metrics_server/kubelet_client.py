"""Asks one kubelet what its node and pods use."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from pybernetes.api.node_address import ADDRESS_TYPES, KUBELET_PORT, kubelet_port, preferred_address
from pybernetes.api.resource import Object
from pybernetes.lib.http.client import HttpClient, Peer, RequestFailed
from pybernetes.lib.http.dialer import Dialer, direct

# Where a node says that its figures are elsewhere, as kubelets of others may have it.
PATH_ANNOTATION = "metrics.k8s.io/resource-metrics-path"
_PATH = "/metrics/resource"
# 110 pods make less than 200 kB.
_MOST_BYTES = 16 * 1024 * 1024
# Connections that are kept for the next round in all: one with TLS takes some 200 kB, a new one takes 1 ms.
_MOST_KEPT = 32


class ScrapeFailed(Exception):
    """A kubelet does not say what is used; the text says why."""


async def no_headers() -> Mapping[bytes, bytes]:
    """Return nothing that says who we are, besides a certificate."""
    return {}


@dataclass(frozen=True)
class KubeletAccess:
    """How kubelets are reached, and what they know us by."""

    context: Callable[[], ssl.SSLContext | None]
    headers: Callable[[], Awaitable[Mapping[bytes, bytes]]] = no_headers
    address_types: tuple[str, ...] = ADDRESS_TYPES
    port: int = KUBELET_PORT
    use_node_status_port: bool = False
    timeout: float = 10.0
    dialer: Dialer = direct


class KubeletClient:
    """A client for the kubelets of all nodes."""

    def __init__(self, access: KubeletAccess) -> None:
        self._access = access
        self._http = HttpClient(access.dialer, most_bytes=_MOST_BYTES, most_idle=1, most_kept=_MOST_KEPT)
        self._peers: dict[str, Peer] = {}  # by the names of their nodes

    async def fetch(self, node: Object) -> bytes:
        """Return what the kubelet of a node answers."""
        access = self._access
        address = preferred_address(node, access.address_types)
        if not address:
            raise ScrapeFailed(f"no address matched types {list(access.address_types)}")
        port = (kubelet_port(node) if access.use_node_status_port else 0) or access.port
        path = (node["metadata"].get("annotations") or {}).get(PATH_ANNOTATION) or _PATH
        if not path.startswith("/") or not path.isascii() or not path.isprintable() or " " in path:
            raise ScrapeFailed(f"the annotation {PATH_ANNOTATION} is no path")
        headers = {name.decode(): value.decode() for name, value in (await access.headers()).items()}
        peer = Peer(address, port, access.context())
        if self._peers.get(node["metadata"]["name"]) != peer:
            self.forget(node["metadata"]["name"])
            self._peers[node["metadata"]["name"]] = peer
        try:
            reply = await self._http.send(peer, "GET", path, b"", headers, access.timeout)
        except RequestFailed as error:
            raise ScrapeFailed(f'Get "https://{peer.address}{path}": {error}') from None
        if reply.status != 200:
            raise ScrapeFailed(f"request failed, status: {reply.status}")
        return reply.body

    def forget(self, name: str) -> None:
        """End the connection to a node that is gone or elsewhere."""
        peer = self._peers.pop(name, None)
        if peer is not None:
            self._http.forget(peer)

    def close(self) -> None:
        """End every connection."""
        self._http.close()
