"""An API server inside the test: its own memory or directory, a free port, and clients for it.

async with Cluster() as cluster:
    pods = await cluster.client.list(PODS)          # in-process, as an administrator
    over_the_network = cluster.rest_client()        # HTTPS on a free port
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pybernetes.client.client import Client
from pybernetes.client.credentials import Authority, Token
from pybernetes.client.rest_transport import RestTransport
from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.assembly import setup
from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, MASTERS, User
from pybernetes.control_plane.apiserver.inprocess.transport import InProcessTransport
from tests.servers import NO_ACCOUNTS

TOKEN = "administrator-token"
ADMINISTRATOR = User("administrator", groups=(MASTERS, AUTHENTICATED))


class Cluster:
    """An API server that can be stopped and started again; with ``data_dir`` it keeps its objects."""

    def __init__(self, *flags: str, data_dir: Path | None = None, tokens: str = "") -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="pybernetes-cluster-")
        self.directory = Path(self._temporary.name)
        self._flags, self._data_dir = flags, data_dir
        self._tokens = f'{TOKEN},administrator,1,"{MASTERS}"\n{tokens}'
        self.server: ApiServer = None  # type: ignore[assignment]
        self.client: Client = None  # type: ignore[assignment]
        self.port = 0
        self._clients: list[Client] = []

    async def start(self) -> None:
        """Start the server; again on the same port if it has been started before."""
        (self.directory / "tokens.csv").write_text(self._tokens)
        storage = (
            ["--storage-backend=sqlite", f"--data-dir={self._data_dir}"]
            if self._data_dir
            else ["--storage-backend=memory"]
        )
        if not any("admission-plugins" in flag for flag in self._flags):
            storage.append(NO_ACCOUNTS)
        arguments = parser().parse_args(
            [
                "--bind-address=127.0.0.1",
                f"--secure-port={self.port}",
                f"--cert-dir={self.directory}",
                f"--token-auth-file={self.directory / 'tokens.csv'}",
                *storage,
                *self._flags,
            ]
        )
        settings = setup.settings(arguments)
        settings.drain_seconds = 0.5
        self.server = ApiServer(setup.store(arguments, settings), settings)
        await self.server.start()
        self.port = self.server.port
        self.client = self.local_client()

    async def stop(self) -> None:
        """Stop the server; clients over the network stay and wait for it."""
        await self.server.stop()

    def local_client(self, user: User = ADMINISTRATOR, **options: Any) -> Client:
        """Return a client in the same process, as a user."""
        return Client(InProcessTransport(self.server.http.application, user), **options)

    @property
    def url(self) -> str:
        """Where the server listens."""
        return f"https://127.0.0.1:{self.port}"

    def rest_client(self, token: str = TOKEN, *, calls_at_once: int = 100, **options: Any) -> Client:
        """Return a client over HTTPS; closed with the cluster."""
        credentials = Token(Authority(self.directory / "ca.crt"), token)
        client = Client(RestTransport(self.url, credentials, calls_at_once=calls_at_once), **options)
        self._clients.append(client)
        return client

    def kubeconfig(self, token: str = TOKEN) -> Path:
        """Return a file for kubectl and other programs."""
        path = self.directory / "kubeconfig"
        path.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
            f"clusters: [{{name: test, cluster: {{server: '{self.url}', "
            f"certificate-authority: '{self.directory / 'ca.crt'}'}}}}]\n"
            f"users: [{{name: test, user: {{token: {token}}}}}]\n"
            "contexts: [{name: test, context: {cluster: test, user: test}}]\n"
        )
        return path

    async def __aenter__(self) -> Cluster:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        for client in self._clients:
            await client.close()
        await self.stop()
        self._temporary.cleanup()


def pod(name: str, namespace: str = "default", **metadata: Any) -> dict[str, Any]:
    """Return a small valid Pod."""
    return {
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"containers": [{"name": "main", "image": "example/image:1"}]},
    }
