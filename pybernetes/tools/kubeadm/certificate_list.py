"""The certificates of a control plane: who signs them, whom they are for, and what for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm.configuration import networks


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom certificates of a machine are made for."""

    cluster: Object
    node: str
    address: str

    @property
    def local_etcd(self) -> bool:
        """Whether etcd is a part of the control plane."""
        return "local" in self.cluster["etcd"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate; ``authority`` is empty for those that sign themselves."""

    name: str
    base: str
    long_name: str
    common_name: str
    authority: str = ""
    organizations: tuple[str, ...] = ()
    server: bool = False
    client: bool = False
    names: Callable[[Subject], list[str]] | None = None
    etcd: bool = False

    def subject_name(self, subject: Subject) -> str:
        """Return its common name; that of etcd's members is the node's."""
        return self.common_name or subject.node


def api_server_names(subject: Subject) -> list[str]:
    """Return all that the API server is known by: sorted names, then addresses."""
    networking = subject.cluster["networking"]
    domain = networking["dnsDomain"]
    listed = [
        subject.node, "kubernetes", "kubernetes.default", "kubernetes.default.svc", f"kubernetes.default.svc.{domain}",
    ]  # fmt: skip
    addresses = [networks.indexed(networking["serviceSubnet"], 1), subject.address]
    endpoint = networks.host_port(subject.cluster.get("controlPlaneEndpoint", ""))
    for name in (
        *([endpoint[0]] if endpoint and endpoint[0] else ()),
        *(subject.cluster["apiServer"].get("certSANs") or ()),
    ):
        _sort(name, listed, addresses)
    return [*sorted(dict.fromkeys(listed)), *dict.fromkeys(addresses)]


def _etcd_names(subject: Subject, field: str) -> list[str]:
    listed, addresses = [subject.node, "localhost"], [subject.address, "127.0.0.1", "::1"]
    for name in (subject.cluster["etcd"].get("local") or {}).get(field) or ():
        _sort(name, listed, addresses)
    return [*sorted(dict.fromkeys(listed)), *dict.fromkeys(addresses)]


def _sort(name: str, listed: list[str], addresses: list[str]) -> None:
    from pybernetes.tools.kubeadm.configuration.validation_parts import is_address

    (addresses if is_address(name) else listed).append(name)


def etcd_server_names(subject: Subject) -> list[str]:
    """Return all that a member of etcd is known by to its clients."""
    return _etcd_names(subject, "serverCertSANs")


def etcd_peer_names(subject: Subject) -> list[str]:
    """Return all that a member of etcd is known by to the others."""
    return _etcd_names(subject, "peerCertSANs")


CERTIFICATES = (
    Certificate("ca", "ca", "self-signed Kubernetes CA to provision identities for other Kubernetes components", "kubernetes"),
    Certificate("apiserver", "apiserver", "certificate for serving the Kubernetes API", "kube-apiserver", "ca",
                server=True, names=api_server_names),
    Certificate("apiserver-kubelet-client", "apiserver-kubelet-client",
                "certificate for the API server to connect to kubelet", "kube-apiserver-kubelet-client", "ca", client=True),
    Certificate("front-proxy-ca", "front-proxy-ca", "self-signed CA to provision identities for front proxy", "front-proxy-ca"),
    Certificate("front-proxy-client", "front-proxy-client", "certificate for the front proxy client", "front-proxy-client",
                "front-proxy-ca", client=True),
    Certificate("etcd-ca", "etcd/ca", "self-signed CA to provision identities for etcd", "etcd-ca", etcd=True),
    Certificate("etcd-server", "etcd/server", "certificate for serving etcd", "", "etcd-ca", server=True, client=True,
                names=etcd_server_names, etcd=True),
    Certificate("etcd-peer", "etcd/peer", "certificate for etcd nodes to communicate with each other", "", "etcd-ca",
                server=True, client=True, names=etcd_peer_names, etcd=True),
    Certificate("etcd-healthcheck-client", "etcd/healthcheck-client", "certificate for liveness probes to healthcheck etcd",
                "kube-etcd-healthcheck-client", "etcd-ca", client=True, etcd=True),
    Certificate("apiserver-etcd-client", "apiserver-etcd-client", "certificate the apiserver uses to access etcd",
                "kube-apiserver-etcd-client", "etcd-ca", client=True, etcd=True),
)  # fmt: skip
BY_NAME = {certificate.name: certificate for certificate in CERTIFICATES}


def wanted(subject: Subject) -> list[Certificate]:
    """Return the certificates that a control plane has; those of etcd only where it is a part of it."""
    return [certificate for certificate in CERTIFICATES if subject.local_etcd or not certificate.etcd]
