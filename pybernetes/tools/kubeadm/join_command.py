"""The command by which others join a cluster."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm import certificate_files, kubeconfig_files


def command(cluster: Object, address: str, port: int, token: str, authority: bytes) -> str:
    """Return the command of a worker."""
    server = kubeconfig_files.control_plane_server(cluster, address, port)
    return text(server, token, authority)


def text(server: str, token: str, authority: bytes) -> str:
    """Return the command for a server and its authority."""
    hashes = " ".join(
        f"--discovery-token-ca-cert-hash {hash_}" for hash_ in certificate_files.bundle_hashes(authority)
    )
    return f"kubeadm join {server.removeprefix('https://')} --token {token} \\\n\t{hashes}"
