"""bootstrap-token: tokens by which nodes join, what they may do, and the ConfigMap that tells them whom to trust."""

from __future__ import annotations

import datetime

from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
)
from pybernetes.tools.kubeadm import kubeconfig_files, rbac, tokens
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.locations import BOOTSTRAPPERS, NODES
from pybernetes.tools.kubeadm.objects import Objects
from pybernetes.tools.kubeadm.workflow import Phase

_CSR = "system:certificates.k8s.io:certificatesigningrequests"


async def _run(data: InitData) -> None:
    objects = await data.objects()
    if not data.skip_token_print:
        listed = [token["token"] for token in data.init["bootstrapTokens"]]
        say(f"[bootstrap-token] Using token{'s' if len(listed) > 1 else ''}: {', '.join(listed)}")
    say("[bootstrap-token] Configuring bootstrap tokens, cluster-info ConfigMap, RBAC Roles")
    now = datetime.datetime.now(datetime.UTC)
    for token in data.init["bootstrapTokens"]:
        await objects.ensure(SECRETS, tokens.secret(token, now))
    await allow_joining(objects)
    await publish(data, objects)


async def allow_joining(objects: Objects) -> None:
    """Write the roles of those who join with a token."""
    bootstrappers = rbac.group(BOOTSTRAPPERS)
    say("[bootstrap-token] Configured RBAC rules to allow Node Bootstrap tokens to get nodes")
    name = "kubeadm:get-nodes"
    await objects.ensure(CLUSTER_ROLES, rbac.cluster_role(name, rbac.rule(("get",), "", "nodes")))
    await objects.ensure(CLUSTER_ROLE_BINDINGS, rbac.cluster_binding(name, name, bootstrappers))
    for text, name, role, subject in (
        (
            "Node Bootstrap tokens to post CSRs in order for nodes to get long term certificate credentials",
            "kubeadm:kubelet-bootstrap",
            "system:node-bootstrapper",
            bootstrappers,
        ),
        (
            "the csrapprover controller automatically approve CSRs from a Node Bootstrap Token",
            "kubeadm:node-autoapprove-bootstrap",
            f"{_CSR}:nodeclient",
            bootstrappers,
        ),
        (
            "certificate rotation for all node client certificates in the cluster",
            "kubeadm:node-autoapprove-certificate-rotation",
            f"{_CSR}:selfnodeclient",
            rbac.group(NODES),
        ),
        (
            "the API server kubelet client certificate to access the kubelet API",
            "kubeadm:apiserver-kubelet-client",
            "system:kubelet-api-admin",
            rbac.user("kube-apiserver-kubelet-client"),
        ),
    ):
        say(f"[bootstrap-token] Configured RBAC rules to allow {text}")
        await objects.ensure(CLUSTER_ROLE_BINDINGS, rbac.cluster_binding(name, role, subject))


async def publish(data: InitData, objects: Objects) -> None:
    """Tell everybody where the cluster is and who its authority is; the bootstrap signer signs it."""
    say('[bootstrap-token] Creating the "cluster-info" ConfigMap in the "kube-public" namespace')
    authority = (data.folders.certificates / "ca.crt").read_bytes()
    server = kubeconfig_files.control_plane_server(data.cluster, data.address, data.port)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "",
                "cluster": {
                    "certificate-authority-data": kubeconfig_files.encoded(authority),
                    "server": server,
                },
            }
        ],
        "contexts": None,
        "current-context": "",
        "users": None,
    }
    await objects.ensure(
        CONFIG_MAPS,
        {
            "metadata": {"name": "cluster-info", "namespace": "kube-public"},
            "data": {"kubeconfig": to_yaml(config)},
        },
    )
    await allow_reading(objects)


async def allow_reading(objects: Objects) -> None:
    """Let everybody read where the cluster is, and nothing else."""
    name = "kubeadm:bootstrap-signer-clusterinfo"
    await objects.ensure(ROLES, rbac.read_one(name, "kube-public", "configmaps", "cluster-info"))
    await objects.ensure(ROLE_BINDINGS, rbac.binding(name, "kube-public", rbac.user("system:anonymous")))


PHASE = Phase(
    "bootstrap-token",
    "Generates bootstrap tokens used to join a node to a cluster",
    _run,
    flags="config dry-run kubeconfig skip-token-print",
    aliases=("bootstraptoken",),
)
