"""The kubelets of hollow nodes at ports of this machine, one for each node: as real ones, over TLS, for those who may."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.client.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.server import Server
from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair, ServingCertificates
from pybernetes.node.kubelet.config_fields import DEFAULTS
from pybernetes.node.kubelet.server.auth import KubeletAuth
from pybernetes.tools.local.hollow import hollow_server
from pybernetes.tools.local.hollow.usage import HollowUsage


class HollowPorts:
    """Listens for nodes; callers are known and permitted as by a kubelet with its defaults."""

    def __init__(
        self, client: Client, usage: HollowUsage, names: Sequence[str], pair: KeyPair, clients: CABundle
    ) -> None:
        self._clients, self._certificates = clients, ServingCertificates(pair, bundles=(clients,))
        self._servers = [self._server(client, usage, name) for name in names]
        self._ports: list[int] = []
        self._address = ""

    def _server(self, client: Client, usage: HollowUsage, node: str) -> Server:
        gate = KubeletAuth(client, Clock(), node, DEFAULTS)
        gate.clients = self._clients
        return hollow_server.server(lambda: client, usage, node=node, gate=gate)

    async def start(self, address: str, first_port: int) -> None:
        """Listen at an address, at ports from a first one on; 0 for any that are free."""
        self._address = address
        for number, server in enumerate(self._servers):
            port = first_port and first_port + number
            self._ports.append(await server.start(address, port, self._certificates.context))

    def place(self, number: int) -> tuple[str, int]:
        """Return address and port of the node with a number."""
        return self._address, self._ports[number]

    async def stop(self) -> None:
        """Stop listening."""
        for server in self._servers:
            await server.stop()
