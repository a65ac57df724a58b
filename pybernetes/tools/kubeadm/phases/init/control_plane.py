"""control-plane: the manifests of the API server, the controller manager and the scheduler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.tools.kubeadm import patches, static_pods
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


async def _begin(data: InitData) -> None:
    say(f'[control-plane] Using manifest folder "{data.folders.manifests}"')


def _make(component: str) -> Callable[[InitData], Awaitable[None]]:
    async def run(data: InitData) -> None:
        say(f'[control-plane] Creating static Pod manifest for "{component}"')
        timeout = data.init["timeouts"]["controlPlaneComponentHealthCheck"]
        pods = static_pods.control_plane(data.cluster, data.init["localAPIEndpoint"], timeout)
        static_pods.write(
            data.folders.manifests, component, patches.patched(component, pods[component], data.patches, say)
        )

    return run


_MORE = {
    "kube-apiserver": "apiserver-advertise-address apiserver-bind-port control-plane-endpoint feature-gates service-cidr",
    "kube-controller-manager": "pod-network-cidr",
}
PHASE = Phase(
    "control-plane",
    "Generate all static Pod manifest files necessary to establish the control plane",
    _begin,
    tuple(
        Phase(
            component.removeprefix("kube-"),
            f"Generates the {component} static Pod manifest",
            _make(component),
            flags=f"cert-dir config dry-run image-repository kubernetes-version patches {_MORE.get(component, '')}",
        )
        for component in static_pods.COMPONENTS
    ),
)
