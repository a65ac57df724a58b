"""The kubeconfigs of a control plane, and those that users get."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.client import kubeconfig, kubeconfig_files
from pybernetes.lib.tls.tls import Pair, write_atomically
from pybernetes.tools.kubeadm import certificate_files as files
from pybernetes.tools.kubeadm.certificate_list import Subject
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import CLUSTER_ADMINS, NODES

Say = Callable[[str], None]


def load(path: Path) -> kubeconfig.Config:
    """Return the administrator's configuration of a client; KubeadmError in upstream's words."""
    try:
        path.open("rb").close()
        return kubeconfig.load(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise KubeadmError(f"failed to load admin kubeconfig: open {path}: {reason}") from None
    except kubeconfig.ConfigError as error:
        raise KubeadmError(f"failed to load admin kubeconfig: {error}") from None


def load_for_client(path: Path) -> kubeconfig.Config:
    """Return the configuration of the client of an upgrade; KubeadmError in upstream's words."""
    try:
        return load(path)
    except KubeadmError as error:
        raise KubeadmError(f'couldn\'t create a Kubernetes client from file "{path}": {error}') from None


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a kubeconfig is for; ``local`` ones talk to the API server of their own machine."""

    file: str
    user: str
    organizations: tuple[str, ...] = ()
    local: bool = False


def identities(node: str) -> dict[str, Identity]:
    """Return the identities of a control-plane machine, by the names of their phases."""
    return {
        "admin": Identity("admin.conf", "kubernetes-admin", (CLUSTER_ADMINS,)),
        "super-admin": Identity("super-admin.conf", "kubernetes-super-admin", ("system:masters",)),
        "kubelet": Identity("kubelet.conf", f"system:node:{node}", (NODES,), local=True),
        "controller-manager": Identity(
            "controller-manager.conf", "system:kube-controller-manager", local=True
        ),
        "scheduler": Identity("scheduler.conf", "system:kube-scheduler", local=True),
    }


def value(server: str, cluster: str, authority: bytes, user: str, who: Object) -> Object:
    """Return a kubeconfig with one cluster, one user and one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": cluster, "cluster": {"server": server, "certificate-authority-data": encoded(authority)}}
        ],
        "contexts": [{"name": f"{user}@{cluster}", "context": {"cluster": cluster, "user": user}}],
        "current-context": f"{user}@{cluster}",
        "users": [{"name": user, "user": who}],
    }


def encoded(data: bytes) -> str:
    """Return bytes as kubeconfigs hold them."""
    return base64.b64encode(data).decode()


def certificate_user(pair: Pair) -> Object:
    """Return a user that is known by a certificate."""
    return {"client-certificate-data": encoded(pair.certificate), "client-key-data": encoded(pair.key)}


def control_plane_server(cluster: Object, address: str, port: int) -> str:
    """Return where clients of all machines reach the API servers."""
    endpoint = cluster.get("controlPlaneEndpoint")
    if endpoint:
        parsed = networks.host_port(endpoint)
        if parsed is None:
            raise KubeadmError(f'invalid value "{endpoint}" given for controlPlaneEndpoint')
        return f"https://{networks.joined(parsed[0], parsed[1] or port)}"
    return f"https://{networks.joined(address, port)}"


def ensure(
    folder: Path,
    subject: Subject,
    port: int,
    identity: Identity,
    certificates: Path,
    say: Say,
    *,
    server: str = "",
) -> None:
    """Write a kubeconfig, unless one for the same server and authority is there."""
    authority = files.read_pair(certificates, "ca")
    certificate = files.read_certificate(certificates / "ca.crt")
    path = folder / identity.file
    own = f"https://{networks.joined(subject.address, port)}"
    if not server:
        server = own if identity.local else control_plane_server(subject.cluster, subject.address, port)
    if certificate is None:
        raise KubeadmError(f"couldn't create a kubeconfig: {certificates / 'ca.crt'} does not exist")
    if path.exists():
        _check(path, server, (certificates / "ca.crt").read_bytes(), say)
        say(f'[kubeconfig] Using existing kubeconfig file: "{path}"')
        return
    if authority is None:
        raise KubeadmError(f"couldn't create a kubeconfig: the CA files do not exist in {certificates}")
    say(f'[kubeconfig] Writing "{identity.file}" kubeconfig file')
    write(path, for_user(subject, authority, server, identity.user, identity.organizations))


def for_user(
    subject: Subject,
    authority: Pair,
    server: str,
    user: str,
    organizations: tuple[str, ...],
    seconds: float = 0,
) -> Object:
    """Return the kubeconfig of somebody who gets a certificate."""
    pair = files.issue(
        authority,
        user,
        algorithm=subject.cluster["encryptionAlgorithm"],
        seconds=seconds or durations.parse_duration(subject.cluster["certificateValidityPeriod"]),
        organizations=organizations,
        client=True,
    )
    return value(server, subject.cluster["clusterName"], authority.certificate, user, certificate_user(pair))


def write(path: Path, content: Object) -> None:
    """Write a kubeconfig, which nobody else may read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, to_yaml(content).encode(), 0o600)


def _check(path: Path, server: str, authority: bytes, say: Say) -> None:
    existing = kubeconfig_files.read(path)
    cluster = (existing.get("clusters") or [{}])[0].get("cluster") or {}
    data = base64.b64decode(cluster.get("certificate-authority-data") or "")
    if data and data.strip() != authority.strip():
        raise KubeadmError(f'a kubeconfig file "{path}" exists already but has got the wrong CA cert')
    if cluster.get("server") != server:
        say(
            f'[kubeconfig] a kubeconfig file "{path}" exists already but has an unexpected API Server URL: expected: {server}, '
            f"got: {cluster.get('server')}"
        )
