"""What the phases of ``join`` share: the configuration, and what was learned of the cluster."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.client import kubeconfig
from pybernetes.client.client import Client
from pybernetes.tools.kubeadm import cluster_settings, discovery
from pybernetes.tools.kubeadm.certificate_list import Subject
from pybernetes.tools.kubeadm.configuration.loading import InitSettings
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import Folders
from pybernetes.tools.kubeadm.objects import ClusterObjects


@dataclass
class JoinData:
    """All that phases of ``join`` need."""

    configuration: Object
    folders: Folders
    dry_run: bool = False
    ignored: frozenset[str] = frozenset()
    patches: Path | None = None
    changed: bool = False  # whether the kubelet was started: what was written stays from then on
    _bootstrap: Object | None = field(default=None, repr=False)
    _settings: InitSettings | None = field(default=None, repr=False)
    _clients: dict[str, Client] = field(default_factory=dict, repr=False)

    @property
    def registration(self) -> Object:
        """How the node registers."""
        return dict(self.configuration["nodeRegistration"])

    @property
    def node(self) -> str:
        """The name of the node."""
        return str(self.registration["name"])

    @property
    def control_plane(self) -> Object | None:
        """What a new control plane is told; None for a worker."""
        given: Object | None = self.configuration.get("controlPlane")
        return given

    @property
    def endpoint(self) -> Object:
        """The address of the API server that this machine will have; KubeadmError for a worker."""
        if self.control_plane is None:
            raise KubeadmError("only a control plane has an API server")
        return dict(self.control_plane["localAPIEndpoint"])

    @property
    def address(self) -> str:
        """The address that the API server of this machine advertises."""
        return str(self.endpoint["advertiseAddress"])

    def seconds(self, name: str) -> float:
        """Return one of the configured timeouts."""
        return durations.parse_duration(self.configuration["timeouts"][name])

    async def bootstrap(self) -> Object:
        """Return the kubeconfig that discovery gave."""
        if self._bootstrap is None:
            self._bootstrap = await discovery.bootstrap_config(self.configuration, self.seconds("discovery"))
        return self._bootstrap

    async def objects(self) -> ClusterObjects:
        """Return the cluster as those see it who join."""
        return ClusterObjects(await self._client("bootstrap", None), self.seconds("kubernetesAPICall"))

    async def admin_client(self) -> Client:
        """Return the client of the administrator, on a machine that has become a control plane."""
        return await self._client("admin", self.folders.kubernetes / "admin.conf")

    async def admin_objects(self) -> ClusterObjects:
        """Return the cluster as the administrator sees it."""
        return ClusterObjects(await self.admin_client(), self.seconds("kubernetesAPICall"))

    async def _client(self, name: str, path: Path | None) -> Client:
        if name not in self._clients:
            try:
                config = kubeconfig.load(path) if path else kubeconfig.from_value(await self.bootstrap())
            except kubeconfig.ConfigError as error:
                raise KubeadmError(str(error)) from None
            self._clients[name] = config.client(user_agent="kubeadm")
        return self._clients[name]

    async def settings(self) -> InitSettings:
        """Return the configuration of the cluster, with what is this machine's own."""
        if self._settings is None:
            cluster_settings.announce("preflight")
            own = {
                "nodeRegistration": self.registration,
                "localAPIEndpoint": self.endpoint if self.control_plane is not None else {"bindPort": 6443},
                "timeouts": self.configuration["timeouts"],
            }
            self._settings = await cluster_settings.fetch(await self.objects(), own)
            if not self.dry_run:
                self.folders.certificates = Path(self._settings.cluster["certificatesDir"])
        return self._settings

    async def subject(self) -> Subject:
        """Return whom certificates of this machine are for."""
        return Subject((await self.settings()).cluster, self.node, self.address)

    async def authority(self) -> bytes:
        """Return the authority of the cluster."""
        cluster = (await self.bootstrap())["clusters"][0]["cluster"]
        return base64.b64decode(cluster.get("certificate-authority-data") or "")

    async def close(self) -> None:
        """End all connections."""
        for client in self._clients.values():
            await client.close()
