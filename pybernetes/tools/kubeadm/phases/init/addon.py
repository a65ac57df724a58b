"""addon: DNS and kube-proxy, which every cluster needs; metrics-server, which some want."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm.addons import coredns, kube_proxy, metrics_server
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


def _say(data: InitData) -> Callable[[str], None]:
    return (lambda text: None) if data.print_manifest else say


async def _coredns(data: InitData) -> None:
    if data.cluster["dns"].get("disabled"):
        say("[addons] The CoreDNS addon is disabled in the configuration")
        return
    await coredns.install(await data.objects(), data.cluster, data.patches, _say(data))


async def _kube_proxy(data: InitData) -> None:
    if data.cluster["proxy"].get("disabled"):
        say("[addons] The kube-proxy addon is disabled in the configuration")
        return
    await kube_proxy.install(
        await data.objects(),
        data.cluster,
        data.settings.components,
        data.address,
        data.port,
        data.patches,
        _say(data),
    )


async def _metrics_server(data: InitData) -> None:
    await metrics_server.install(
        await data.objects(), data.cluster, data.folders.certificates, data.patches, _say(data)
    )


PRINT_MANIFEST = Flag(
    "print-manifest", False, "Print the addon manifests to STDOUT instead of installing them"
)
_FLAGS = "config dry-run image-repository kubeconfig kubernetes-version"
_DNS = f"{_FLAGS} feature-gates service-cidr service-dns-domain"
_PROXY = f"{_FLAGS} apiserver-advertise-address apiserver-bind-port control-plane-endpoint pod-network-cidr"
PHASE = Phase(
    "addon",
    "Install required addons for passing conformance tests",
    None,
    (
        Phase(
            "coredns",
            "Install the CoreDNS addon to a Kubernetes cluster",
            _coredns,
            flags=_DNS,
            own_flags=(PRINT_MANIFEST,),
        ),
        Phase(
            "kube-proxy",
            "Install the kube-proxy addon to a Kubernetes cluster",
            _kube_proxy,
            flags=_PROXY,
            own_flags=(PRINT_MANIFEST,),
        ),
        Phase(
            "metrics-server",
            "Install metrics-server (only if named)",
            _metrics_server,
            flags=f"{_FLAGS} cert-dir patches",
            own_flags=(PRINT_MANIFEST,),
            optional=True,
        ),
    ),
)
