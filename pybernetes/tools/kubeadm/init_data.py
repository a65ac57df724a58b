"""What the phases of ``init`` share: the configuration, where files go, and the cluster once it is there."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.client import kubeconfig
from pybernetes.client.client import Client
from pybernetes.client.refs import CLUSTER_ROLE_BINDINGS
from pybernetes.tools.kubeadm import rbac
from pybernetes.tools.kubeadm.certificate_list import Subject
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.configuration.loading import InitSettings
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import CLUSTER_ADMINS, KUBELET, KUBERNETES, MANIFESTS, TEMPORARY
from pybernetes.tools.kubeadm.objects import ClusterObjects, ManifestObjects, Objects, PrintedObjects


def say(text: str) -> None:
    """Print a line for the user, at once."""
    print(text, flush=True)


def confirmed(phase: str) -> bool:
    """Return whether the user means it; no is what the end of the input says, too."""
    try:
        answer = input(f"[{phase}] Are you sure you want to proceed? [y/N]: ")
    except EOFError:
        return False
    return answer.strip().lower() in ("y", "yes")


@dataclass
class Folders:
    """Where files go; a dry run has a folder of its own for all of them."""

    kubernetes: Path = KUBERNETES
    certificates: Path = KUBERNETES / "pki"
    manifests: Path = MANIFESTS
    kubelet: Path = KUBELET

    @staticmethod
    def dry_run(variable: str, prefix: str) -> Folders:
        """Return a new folder for everything, or the one that the environment names."""
        given = os.environ.get(variable)
        if given:
            folder = Path(given)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        else:
            TEMPORARY.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=TEMPORARY))
            say(
                f"[dryrun] Using dry-run directory {folder}. To override it, set the environment variable {variable}"
            )
        return Folders(folder, folder, folder, folder)


@dataclass
class InitData:
    """All that phases of ``init`` need."""

    settings: InitSettings
    folders: Folders
    dry_run: bool = False
    upload_certs: bool = False
    skip_token_print: bool = False
    skip_certificate_key_print: bool = False
    ignored: frozenset[str] = frozenset()
    kubeconfig: Path | None = None
    patches: Path | None = None
    print_manifest: bool = False  # addons are printed, and nothing is asked of a cluster
    changed: bool = False  # whether the kubelet was started: what was written stays from then on
    _objects: Objects | None = field(default=None, repr=False)
    _clients: list[Client] = field(default_factory=list, repr=False)

    @property
    def init(self) -> Object:
        """The InitConfiguration."""
        return self.settings.init

    @property
    def cluster(self) -> Object:
        """The ClusterConfiguration."""
        return self.settings.cluster

    @property
    def node(self) -> str:
        """The name of the node."""
        return str(self.init["nodeRegistration"]["name"])

    @property
    def address(self) -> str:
        """The address that the API server advertises."""
        return str(self.init["localAPIEndpoint"]["advertiseAddress"])

    @property
    def port(self) -> int:
        """The port of the API server."""
        return int(self.init["localAPIEndpoint"]["bindPort"])

    @property
    def subject(self) -> Subject:
        """Whom certificates are for."""
        return Subject(self.cluster, self.node, self.address)

    @property
    def local_server(self) -> str:
        """Where the API server of this machine is."""
        return f"https://{networks.joined(self.address, self.port)}"

    def seconds(self, name: str) -> float:
        """Return one of the configured timeouts."""
        return durations.parse_duration(self.init["timeouts"][name])

    def _client(self, path: Path) -> Client:
        try:
            config = kubeconfig.load(path)
        except kubeconfig.ConfigError as error:
            raise KubeadmError(f"failed to load {path}: {error}") from None
        # A load balancer may not lead here yet.
        if self.kubeconfig is None:
            config.server = self.local_server
        client = config.client(user_agent="kubeadm")
        self._clients.append(client)
        return client

    async def objects(self) -> Objects:
        """Return the objects of the cluster; the first call makes administrators of who has admin.conf."""
        if self._objects is not None:
            return self._objects
        if self.print_manifest:
            self._objects = ManifestObjects(say)
            return self._objects
        if self.dry_run:
            self._objects = PrintedObjects(say)
            return self._objects
        seconds = self.seconds("kubernetesAPICall")
        if self.kubeconfig is not None:
            self._objects = ClusterObjects(self._client(self.kubeconfig), seconds)
            return self._objects
        super_admin = self.folders.kubernetes / "super-admin.conf"
        if super_admin.exists():
            binding = rbac.cluster_binding(CLUSTER_ADMINS, "cluster-admin", rbac.group(CLUSTER_ADMINS))
            await ClusterObjects(self._client(super_admin), seconds).create_once(
                CLUSTER_ROLE_BINDINGS, binding
            )
        self._objects = ClusterObjects(self._client(self.folders.kubernetes / "admin.conf"), seconds)
        return self._objects

    async def close(self) -> None:
        """End all connections."""
        for client in self._clients:
            await client.close()
