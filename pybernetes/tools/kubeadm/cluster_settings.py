"""The configuration of a running cluster, as its ConfigMaps have it."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.tools.kubeadm.configuration import component_configs, defaults, documents
from pybernetes.tools.kubeadm.configuration.loading import InitSettings, complete_cluster
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import NAMESPACE
from pybernetes.tools.kubeadm.objects import Objects


def announce(purpose: str) -> None:
    """Say what is read of a cluster, and where that comes from."""
    say(
        f'[{purpose}] Reading configuration from the "kubeadm-config" ConfigMap in namespace "kube-system"...'
    )
    say(
        f"[{purpose}] Use 'kubeadm init phase upload-config kubeadm --config your-config-file' to re-upload it."
    )


async def fetch(objects: Objects, init: Object) -> InitSettings:
    """Return the configuration of the cluster, for a machine that is told the rest by ``init``."""
    cluster = await cluster_configuration(objects)
    complete_cluster(cluster, init["localAPIEndpoint"])
    given: dict[str, Object] = {}
    config_map = await objects.get(CONFIG_MAPS, "kubelet-config", NAMESPACE)
    if config_map is None:
        raise KubeadmError('the ConfigMap "kubelet-config" is not there: the cluster was not made by kubeadm')
    read = documents.read((config_map.get("data") or {}).get("kubelet", "").encode())
    given |= read.components
    components = component_configs.completed(
        given, cluster, init["localAPIEndpoint"].get("advertiseAddress", "")
    )
    components[component_configs.KUBELET] = given[component_configs.KUBELET]
    return InitSettings(init, cluster, components)


async def cluster_configuration(objects: Objects) -> Object:
    """Return the ClusterConfiguration of a cluster."""
    config_map = await objects.get(CONFIG_MAPS, "kubeadm-config", NAMESPACE)
    text = ((config_map or {}).get("data") or {}).get("ClusterConfiguration")
    if not text:
        raise KubeadmError('the ConfigMap "kubeadm-config" is not there: the cluster was not made by kubeadm')
    read = documents.read(text.encode())
    if "ClusterConfiguration" not in read.own:
        raise KubeadmError('the ConfigMap "kubeadm-config" has no ClusterConfiguration')
    return defaults.cluster(read.own["ClusterConfiguration"])
