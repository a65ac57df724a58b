"""kubeconfig: how the parts of a control plane and its administrator reach the API server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.tools.kubeadm import kubeconfig_files
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase

_SHORT = {
    "admin": "Generate a kubeconfig file for the admin to use and for kubeadm itself",
    "super-admin": "Generate a kubeconfig file for the super-admin",
    "kubelet": "Generate a kubeconfig file for the kubelet to use *only* for cluster bootstrapping purposes",
    "controller-manager": "Generate a kubeconfig file for the controller manager to use",
    "scheduler": "Generate a kubeconfig file for the scheduler to use",
}


async def _begin(data: InitData) -> None:
    say(f'[kubeconfig] Using kubeconfig folder "{data.folders.kubernetes}"')


def _make(name: str) -> Callable[[InitData], Awaitable[None]]:
    async def run(data: InitData) -> None:
        identity = kubeconfig_files.identities(data.node)[name]
        folders = data.folders
        kubeconfig_files.ensure(
            folders.kubernetes, data.subject, data.port, identity, folders.certificates, say
        )

    return run


_FLAGS = (
    "apiserver-advertise-address apiserver-bind-port cert-dir config control-plane-endpoint dry-run kubeconfig-dir "
    "kubernetes-version"
)
PHASE = Phase(
    "kubeconfig",
    "Generate all kubeconfig files necessary to establish the control plane and the admin kubeconfig file",
    _begin,
    tuple(
        Phase(name, short, _make(name), flags=f"{_FLAGS} node-name" if name == "kubelet" else _FLAGS)
        for name, short in _SHORT.items()
    ),
)
