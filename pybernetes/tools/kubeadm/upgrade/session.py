"""What the commands of an upgrade share: the cluster, its configuration, and what its nodes run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import durations, yaml_reader
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import NODES
from pybernetes.tools.kubeadm import (
    cluster_settings,
    command_line,
    kubeconfig_files,
    kubelet_files,
    kubelet_service,
)
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration import defaults, documents, loading, networks
from pybernetes.tools.kubeadm.configuration.loading import InitSettings
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import KUBELET, MANIFESTS
from pybernetes.tools.kubeadm.objects import ClusterObjects

_ANNOTATION = "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint"


@dataclass
class Session:
    """A cluster that is upgraded."""

    client: Client
    objects: ClusterObjects
    settings: InitSettings
    upgrade: Object
    current: str  # the version of the cluster
    kubeconfig: Path

    async def kubelets(self) -> dict[str, str]:
        """Return the versions of the kubelets by their nodes."""
        try:
            page = await self.client.list(NODES)
        except (StatusError, OSError) as error:
            raise KubeadmError(f"couldn't list all nodes in cluster: {error}") from None
        return {
            node["metadata"]["name"]: ((node.get("status") or {}).get("nodeInfo") or {}).get(
                "kubeletVersion", ""
            )
            for node in page.items
        }


def configuration(arguments: Arguments) -> Object:
    """Return the UpgradeConfiguration of a command line."""
    command_line.check_mixed(arguments)
    if not arguments.config:
        return loading.upgrade({})
    given = documents.read(documents.read_file(arguments.config)).own.get("UpgradeConfiguration")
    if given is None:
        raise KubeadmError("no UpgradeConfiguration found in the supplied config")
    return loading.upgrade(given)


@asynccontextmanager
async def session(path: Path, upgrade: Object, purpose: str = "upgrade") -> AsyncIterator[Session]:
    """Give the cluster that a kubeconfig leads to, with its configuration for this machine."""
    config = kubeconfig_files.load_for_client(path)
    cluster_settings.announce(purpose)
    async with config.client(user_agent="kubeadm") as client:
        seconds = durations.parse_duration(upgrade["timeouts"]["kubernetesAPICall"])
        objects = ClusterObjects(client, seconds)
        own = defaults.init({"timeouts": upgrade["timeouts"]})
        own["nodeRegistration"] = loading.registration(
            {**own["nodeRegistration"], **_registered()}, control_plane=True
        )
        own["localAPIEndpoint"] = loading.endpoint(_endpoint() or own["localAPIEndpoint"])
        settings = await cluster_settings.fetch(objects, own)
        yield Session(client, objects, settings, upgrade, settings.cluster["kubernetesVersion"], path)


def _registered() -> Object:
    """Return the name and the container runtime that this machine's kubelet has."""
    known: Object = {}
    for word in kubelet_service.arguments():
        if word.startswith("--hostname-override="):
            known["name"] = word.partition("=")[2]
    known["criSocket"] = kubelet_files.own_socket(KUBELET)
    return known


def _endpoint() -> Object | None:
    """Return where the API server of this machine is, as its manifest tells; None on a worker."""
    path = MANIFESTS / "kube-apiserver.yaml"
    if not path.exists():
        return None
    value, _ = yaml_reader.loads(path.read_bytes())
    text = (value["metadata"].get("annotations") or {}).get(_ANNOTATION, "")
    parsed = networks.host_port(text)
    return {"advertiseAddress": parsed[0], "bindPort": parsed[1] or 6443} if parsed else None
