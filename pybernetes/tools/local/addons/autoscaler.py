"""The autoscaler of a local cluster: its identity, and the connection to the cluster's node groups."""

from __future__ import annotations

import json
import os

from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref
from pybernetes.lib.tls import tls
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.addons import addons, provisioning_request
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

USER = "system:cluster-autoscaler"
AUTOSCALER, CLOUD = "cluster-autoscaler", "cloud-provider-grpc"
_RULES: tuple[Object, ...] = (
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch", "update"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    addons.rule(
        "", "pods", "namespaces", "services", "replicationcontrollers", "persistentvolumeclaims", "persistentvolumes"
    ),
    addons.rule("apps", "replicasets", "statefulsets", "daemonsets"),
    addons.rule("batch", "jobs"),
    addons.rule("policy", "poddisruptionbudgets"),
    addons.rule("storage.k8s.io", "storageclasses", "csinodes", "csidrivers", "csistoragecapacities"),
)  # fmt: skip
_REQUESTS = {"apiGroups": ["autoscaling.x-k8s.io"]}
_PROVISIONING_RULES: tuple[Object, ...] = (
    {**_REQUESTS, "resources": ["provisioningrequests"], "verbs": ["get", "list", "watch", "delete"]},
    {**_REQUESTS, "resources": ["provisioningrequests/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["podtemplates"], "verbs": ["get"]},
)
_LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
_MAPS = {"apiGroups": [""], "resources": ["configmaps"]}
# In its own namespace: what it is called there cannot be said of what does not exist yet.
_OWN_RULES: tuple[Object, ...] = (
    {**_MAPS, "verbs": ["create"]},
    {**_MAPS, "resourceNames": ["cluster-autoscaler-status"], "verbs": ["get", "patch"]},
    {**_MAPS, "resourceNames": ["cluster-autoscaler-priority-expander"], "verbs": ["list", "watch"]},
    {**_LEASES, "verbs": ["create"]},
    {**_LEASES, "resourceNames": [AUTOSCALER], "verbs": ["get", "update"]},
)


def wants_provisioning_requests(settings: Settings) -> bool:
    """Return whether the autoscaler is told to look after ProvisioningRequests."""
    flag = "--enable-provisioning-requests"
    said = [
        word.partition("=")[2] or "true"
        for word in settings.autoscaler_arguments
        if word.partition("=")[0] == flag
    ]
    return settings.autoscaler and bool(said) and said[-1].lower() in ("true", "t", "1")


def access(provisioning: bool = False) -> list[tuple[Ref, Object]]:
    """Return the objects that permit the autoscaler what it needs, and the kind of ProvisioningRequests if they are wanted."""
    name = "pybernetes:cluster-autoscaler"
    return [
        *(provisioning_request.definition() if provisioning else ()),
        *addons.role(name, USER, *_RULES, *(_PROVISIONING_RULES if provisioning else ())),
        *addons.namespaced_role("kube-system", name, USER, *_OWN_RULES),
    ]


def prepare(cluster: Cluster, settings: Settings, server: str) -> None:
    """Make keys for both sides of the connection, and the autoscaler's identity.

    The connection has an authority of its own: whoever drives it makes and removes nodes, which no certificate of the
    cluster is to permit.
    """
    mine, theirs = cluster.root / CLOUD, cluster.root / AUTOSCALER
    for folder in (mine, theirs):
        folder.mkdir(mode=0o700, exist_ok=True)
    certificate, key = tls.ensure_authority(mine, "pybernetes-node-groups")
    authority = tls.Pair(certificate.read_bytes(), key.read_bytes())
    tls.ensure_pair(mine / "server.crt", mine / "server.key", authority, CLOUD, ("localhost", "127.0.0.1"))
    config = theirs / "cloud-config.yaml"
    if not (theirs / "client.key").exists():
        own = tls.issue(authority, AUTOSCALER, client=True)
        tls.write_atomically(theirs / "client.crt", own.certificate)
        tls.write_atomically(theirs / "client.key", own.key, 0o600)
    tls.write_atomically(theirs / "cloud-ca.crt", authority.certificate)
    fields = {
        "address": f"localhost:{settings.cloud_port}",
        "key": str(theirs / "client.key"),
        "cert": str(theirs / "client.crt"),
        "cacert": str(theirs / "cloud-ca.crt"),
        "grpc_timeout": "60s",
    }
    tls.write_atomically(config, json.dumps(fields).encode(), 0o600)
    issuer = tls.Pair(*(path.read_bytes() for path in tls.ensure_authority(cluster.certificates)))
    identity = tls.issue(issuer, USER, client=True)
    entries = kubeconfig.entries(cluster.name, server, issuer.certificate, identity.certificate, identity.key)
    kubeconfig.write(theirs / "kubeconfig", entries)
    if settings.user:
        for path in (theirs, *theirs.iterdir()):
            os.chown(path, settings.user, settings.user)


def arguments(cluster: Cluster, settings: Settings) -> list[str]:
    """Return the command line of the autoscaler: quick, since nodes of this machine are."""
    folder = cluster.root / AUTOSCALER
    return [
        AUTOSCALER,
        f"--kubeconfig={folder / 'kubeconfig'}",
        "--cloud-provider=externalgrpc",
        f"--cloud-config={folder / 'cloud-config.yaml'}",
        "--address=",
        "--leader-elect=false",
        *settings.autoscaler_arguments,
    ]
