"""The control plane of a federation as a process of its local host: its identity and its command line."""

from __future__ import annotations

import os

from pybernetes.lib.tls import tls
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

NAME = "kubefed-controller-manager"


def prepare(cluster: Cluster, settings: Settings, server: str) -> None:
    """Make the identity of the control plane, once."""
    from pybernetes.control_plane.federation.access import USER

    folder = cluster.root / NAME
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / "kubeconfig"
    if not file.exists():
        issuer = tls.Pair(*(path.read_bytes() for path in tls.ensure_authority(cluster.certificates)))
        own = tls.issue(issuer, USER, client=True)
        kubeconfig.write(
            file, kubeconfig.entries(cluster.name, server, issuer.certificate, own.certificate, own.key)
        )
    if settings.user:
        for path in (folder, file):
            os.chown(path, settings.user, settings.user)


def arguments(cluster: Cluster) -> list[str]:
    """Return the command line of the control plane. One process needs no election, and nobody asks it for metrics."""
    return [
        NAME,
        f"--kubeconfig={cluster.root / NAME / 'kubeconfig'}",
        "--leader-elect=false",
        "--secure-port=0",
    ]
