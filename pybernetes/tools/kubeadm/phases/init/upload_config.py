"""upload-config: the configuration of the cluster and of its kubelets, for those who join."""

from __future__ import annotations

from pybernetes.client.refs import CONFIG_MAPS, ROLE_BINDINGS, ROLES
from pybernetes.tools.kubeadm import rbac
from pybernetes.tools.kubeadm.configuration.component_configs import KUBELET
from pybernetes.tools.kubeadm.configuration.printing import shown, to_yaml
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.locations import BOOTSTRAPPERS, NAMESPACE, NODES
from pybernetes.tools.kubeadm.workflow import Phase


async def _kubeadm(data: InitData) -> None:
    say(
        f'[upload-config] Storing the configuration used in ConfigMap "kubeadm-config" in the "{NAMESPACE}" Namespace'
    )
    objects = await data.objects()
    await objects.ensure(
        CONFIG_MAPS,
        {
            "metadata": {"name": "kubeadm-config", "namespace": NAMESPACE},
            "data": {"ClusterConfiguration": to_yaml(shown(data.cluster))},
        },
    )
    name = "kubeadm:nodes-kubeadm-config"
    await objects.ensure(ROLES, rbac.read_one(name, NAMESPACE, "configmaps", "kubeadm-config"))
    await objects.ensure(
        ROLE_BINDINGS, rbac.binding(name, NAMESPACE, rbac.group(BOOTSTRAPPERS), rbac.group(NODES))
    )


async def _kubelet(data: InitData) -> None:
    say(
        f'[kubelet] Creating a ConfigMap "kubelet-config" in namespace {NAMESPACE} with the configuration for the kubelets in '
        "the cluster"
    )
    objects = await data.objects()
    await objects.ensure(
        CONFIG_MAPS,
        {
            "metadata": {"name": "kubelet-config", "namespace": NAMESPACE},
            "data": {"kubelet": to_yaml(data.settings.components[KUBELET])},
        },
    )
    name = "kubeadm:kubelet-config"
    await objects.ensure(ROLES, rbac.read_one(name, NAMESPACE, "configmaps", "kubelet-config"))
    await objects.ensure(
        ROLE_BINDINGS, rbac.binding(name, NAMESPACE, rbac.group(NODES), rbac.group(BOOTSTRAPPERS))
    )


_FLAGS = "config cri-socket dry-run kubeconfig"
PHASE = Phase(
    "upload-config",
    "Upload the kubeadm and kubelet configuration to a ConfigMap",
    None,
    (
        Phase("kubeadm", "Upload the kubeadm ClusterConfiguration to a ConfigMap", _kubeadm, flags=_FLAGS),
        Phase("kubelet", "Upload the kubelet component config to a ConfigMap", _kubelet, flags=_FLAGS),
    ),
    aliases=("uploadconfig",),
)
