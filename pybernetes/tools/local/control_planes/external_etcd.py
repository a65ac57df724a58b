"""An etcd on machines of its own: its certificates, the command lines of its members, and what API servers need to reach it."""

from __future__ import annotations

from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.tls import tls
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm import etcd_pod
from pybernetes.tools.local.control_planes import topology
from pybernetes.tools.local.network import network
from pybernetes.tools.local.nodes.machine import Machine
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings

_PKI = "/etc/kubernetes/pki"
_CLIENT = "apiserver-etcd-client"


def command(settings: Settings, node: NodeSettings) -> list[str]:
    """Return the command line of a member; all of them begin together."""
    members = {
        other.name: etcd_pod.peer_url(network.node_addresses(settings, other.name)[0])
        for other in topology.etcd_machines(settings)
    }
    local = {
        "dataDir": "/var/lib/etcd",
        "imageTag": images.installed_etcd_tag(),
        "extraArgs": [{"name": "initial-cluster-state", "value": "new"}],
    }
    cluster = {"certificatesDir": _PKI, "etcd": {"local": local}}
    return etcd_pod.command(cluster, network.node_addresses(settings, node.name)[0], node.name, members)


def configuration(settings: Settings) -> Object:
    """Return what kubeadm is told about it."""
    addresses = [network.node_addresses(settings, node.name)[0] for node in topology.etcd_machines(settings)]
    return {
        "endpoints": [etcd_pod.client_url(address) for address in addresses],
        "caFile": f"{_PKI}/etcd/ca.crt",
        "certFile": f"{_PKI}/{_CLIENT}.crt",
        "keyFile": f"{_PKI}/{_CLIENT}.key",
    }


def give_member(cluster: Cluster, settings: Settings, node: NodeSettings, machine: Machine) -> None:
    """Give a member its certificates, once."""
    folder = machine.own("/etc/kubernetes") / "pki" / "etcd"
    address = network.node_addresses(settings, node.name)[0]
    authority = _authority(cluster)
    for name in ("server", "peer"):
        if not (folder / f"{name}.crt").exists():
            hosts = (node.name, "localhost", address, "127.0.0.1")
            pair = tls.issue(authority, node.name, names=hosts, server=True, client=True)
            _write(folder, name, pair)
    tls.write_atomically(folder / "ca.crt", authority.certificate)


def give_client(cluster: Cluster, machine: Machine) -> None:
    """Give the first control plane the certificate with which API servers come; kubeadm hands it on to the others."""
    folder = machine.own("/etc/kubernetes") / "pki"
    authority = _authority(cluster)
    _write(folder, _CLIENT, tls.issue(authority, "kube-apiserver-etcd-client", client=True))
    (folder / "etcd").mkdir(exist_ok=True, mode=0o700)
    tls.write_atomically(folder / "etcd" / "ca.crt", authority.certificate)


def _write(folder: Path, name: str, pair: tls.Pair) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    tls.write_atomically(folder / f"{name}.key", pair.key, 0o600)
    tls.write_atomically(folder / f"{name}.crt", pair.certificate)


def _authority(cluster: Cluster) -> tls.Pair:
    folder = cluster.certificates / "etcd"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    certificate, key = tls.ensure_authority(folder)
    return tls.Pair(certificate.read_bytes(), key.read_bytes())
