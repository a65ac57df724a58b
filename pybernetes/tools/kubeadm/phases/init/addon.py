"""addon: DNS and kube-proxy, which every cluster needs."""

from __future__ import annotations

from pybernetes.tools.kubeadm.addons import coredns, kube_proxy
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


async def _coredns(data: InitData) -> None:
    if data.cluster["dns"].get("disabled"):
        say("[addons] The CoreDNS addon is disabled in the configuration")
        return
    await coredns.install(await data.objects(), data.cluster, data.patches, say)


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
        say,
    )


PHASE = Phase(
    "addon",
    "Install required addons for passing conformance tests",
    None,
    (
        Phase("coredns", "Install the CoreDNS addon to a Kubernetes cluster", _coredns),
        Phase("kube-proxy", "Install the kube-proxy addon to a Kubernetes cluster", _kube_proxy),
    ),
)
