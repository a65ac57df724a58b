"""kube-proxy: a DaemonSet, on every node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    DAEMON_SETS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
)
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm import kubeconfig_files, patches, rbac
from pybernetes.tools.kubeadm.configuration.component_configs import PROXY
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.locations import BOOTSTRAPPERS, NAMESPACE
from pybernetes.tools.kubeadm.objects import Objects

_NAME = "kube-proxy"
_LABELS = {"k8s-app": _NAME}
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def kubeconfig(server: str) -> Object:
    """Return how kube-proxy reaches the API server before there are services: at the address of the control plane."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "default", "cluster": {"certificate-authority": f"{_ACCOUNT}/ca.crt", "server": server}}
        ],
        "contexts": [
            {"name": "default", "context": {"cluster": "default", "namespace": "default", "user": "default"}}
        ],
        "current-context": "default",
        "users": [{"name": "default", "user": {"tokenFile": f"{_ACCOUNT}/token"}}],
    }


def daemon_set(cluster: Object) -> Object:
    """Return the DaemonSet."""
    mounts = [
        {"name": _NAME, "mountPath": "/var/lib/kube-proxy"},
        {"name": "xtables-lock", "mountPath": "/run/xtables.lock", "readOnly": False},
        {"name": "lib-modules", "mountPath": "/lib/modules", "readOnly": True},
    ]
    container = {
        "name": _NAME,
        "image": images.component(_NAME, cluster["kubernetesVersion"], cluster["imageRepository"]),
        "imagePullPolicy": "IfNotPresent",
        "command": [
            "/usr/local/bin/kube-proxy",
            "--config=/var/lib/kube-proxy/config.conf",
            "--hostname-override=$(NODE_NAME)",
        ],
        "securityContext": {"privileged": True},
        "volumeMounts": mounts,
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
    }
    pod = {
        "priorityClassName": "system-node-critical",
        "containers": [container],
        "hostNetwork": True,
        "serviceAccountName": _NAME,
        "volumes": [
            {"name": _NAME, "configMap": {"name": _NAME}},
            {"name": "xtables-lock", "hostPath": {"path": "/run/xtables.lock", "type": "FileOrCreate"}},
            {"name": "lib-modules", "hostPath": {"path": "/lib/modules"}},
        ],
        "tolerations": [{"operator": "Exists"}],
        "nodeSelector": {"kubernetes.io/os": "linux"},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": _NAME, "namespace": NAMESPACE, "labels": _LABELS},
        "spec": {
            "selector": {"matchLabels": _LABELS},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": _LABELS}, "spec": pod},
        },
    }


async def install(
    objects: Objects,
    cluster: Object,
    components: dict[str, Object],
    address: str,
    port: int,
    folder: Path | None,
    say: Callable[[str], None],
) -> None:
    """Write the objects of kube-proxy."""
    server = kubeconfig_files.control_plane_server(cluster, address, port)
    metadata = {"name": _NAME, "namespace": NAMESPACE}
    await objects.ensure(
        CONFIG_MAPS,
        {
            "metadata": {**metadata, "labels": {"app": _NAME}},
            "data": {
                "config.conf": to_yaml(components[PROXY]),
                "kubeconfig.conf": to_yaml(kubeconfig(server)),
            },
        },
    )
    await objects.ensure(DAEMON_SETS, patches.patched("kubeproxydaemonset", daemon_set(cluster), folder, say))
    await objects.create_once(SERVICE_ACCOUNTS, {"metadata": metadata})
    await objects.ensure(
        CLUSTER_ROLE_BINDINGS,
        rbac.cluster_binding("kubeadm:node-proxier", "system:node-proxier", rbac.account(_NAME, NAMESPACE)),
    )
    await objects.ensure(ROLES, rbac.read_one(_NAME, NAMESPACE, "configmaps", _NAME))
    await objects.ensure(ROLE_BINDINGS, rbac.binding(_NAME, NAMESPACE, rbac.group(BOOTSTRAPPERS)))
    say("[addons] Applied essential addon: kube-proxy")
