"""The configuration files of kubeadm for the machines of a local cluster: pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.tools.local.network import network
from pybernetes.tools.local.settings import CONTROL_PLANE, NodeSettings, Settings

API_VERSION = "kubeadm.k8s.io/v1beta4"


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a machine needs to join."""

    token: str
    hashes: tuple[str, ...]  # of the authority's certificate
    certificate_key: str


def initial(
    cluster: str, settings: Settings, node: NodeSettings, token: str, key: str, external: Object | None = None
) -> list[Object]:
    """Return what kubeadm init reads on the first machine; ``external`` says where an etcd beside the machines is."""
    address = network.node_addresses(settings, node.name)[0]
    return [
        {
            "apiVersion": API_VERSION,
            "kind": "InitConfiguration",
            "bootstrapTokens": [
                {
                    "token": token,
                    "ttl": "2h0m0s",
                    "usages": ["signing", "authentication"],
                    "groups": ["system:bootstrappers:kubeadm:default-node-token"],
                }
            ],
            "certificateKey": key,
            "localAPIEndpoint": {"advertiseAddress": address, "bindPort": 6443},
            "nodeRegistration": _registration(cluster, node, address),
        },
        {
            "apiVersion": API_VERSION,
            "kind": "ClusterConfiguration",
            "clusterName": cluster,
            "controlPlaneEndpoint": f"{settings.address}:{settings.port}",
            "networking": {"podSubnet": settings.pod_range, "serviceSubnet": settings.service_range},
            **({"etcd": {"external": external}} if external else {}),
        },
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            # The disk is the user's: that it is nearly full is no reason to end their pods or remove their images.
            "evictionHard": {"memory.available": "100Mi"},
            "imageGCHighThresholdPercent": 100,
            "failSwapOn": False,
            # metrics-server knows kubelets by the cluster's authority (serving_certificates.py).
            "serverTLSBootstrap": True,
        },
    ]


def joining(cluster: str, settings: Settings, node: NodeSettings, invitation: Invitation) -> list[Object]:
    """Return what kubeadm join reads on a further machine."""
    address = network.node_addresses(settings, node.name)[0]
    result: Object = {
        "apiVersion": API_VERSION,
        "kind": "JoinConfiguration",
        "discovery": {
            "bootstrapToken": {
                "token": invitation.token,
                "apiServerEndpoint": f"{settings.address}:{settings.port}",
                "caCertHashes": list(invitation.hashes),
            }
        },
        "nodeRegistration": _registration(cluster, node, address),
    }
    if node.role == CONTROL_PLANE:
        result["controlPlane"] = {
            "localAPIEndpoint": {"advertiseAddress": address, "bindPort": 6443},
            "certificateKey": invitation.certificate_key,
        }
    return [result]


def _registration(cluster: str, node: NodeSettings, address: str) -> Object:
    return {
        "name": node.name,
        "criSocket": "unix:///run/containerd/containerd.sock",
        "imagePullPolicy": "IfNotPresent",
        # Several machines share the host's control groups, memory, swap and processors; etcd is the host's own too.
        "ignorePreflightErrors": ["NumCPU", "Mem", "Swap", "SystemVerification", "ExternalEtcdVersion"],
        "kubeletExtraArgs": [
            {"name": "cgroup-root", "value": f"/pybernetes/{cluster}/{node.name}"},
            {"name": "node-ip", "value": address},
        ],
    }
