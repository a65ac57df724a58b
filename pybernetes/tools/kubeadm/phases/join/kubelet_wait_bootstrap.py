"""kubelet-wait-bootstrap: until the kubelet has a certificate of its own."""

from __future__ import annotations

import asyncio

from pybernetes.tools.kubeadm import kubelet_service, waiting
from pybernetes.tools.kubeadm.configuration.component_configs import KUBELET
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.workflow import Phase

_LOOK_SECONDS = 0.1


async def _run(data: JoinData) -> None:
    if data.dry_run:
        say("[kubelet-wait] Would wait for the kubelet to be bootstrapped")
        return
    kubelet = (await data.settings()).components[KUBELET]
    bootstrap = data.folders.kubernetes / "bootstrap-kubelet.conf"
    loop = asyncio.get_running_loop()
    deadline = loop.time() + data.seconds("tlsBootstrap")
    try:
        say("[kubelet-start] Waiting for the kubelet to perform the TLS Bootstrap")
        while not (data.folders.kubernetes / "kubelet.conf").exists():
            if loop.time() > deadline:
                raise KubeadmError(
                    "failed while waiting for TLS bootstrap: context deadline exceeded; the kubelet's own words:\n\t"
                    f"{kubelet_service.log_hint(data.folders.kubelet)}"
                )
            await asyncio.sleep(_LOOK_SECONDS)
        await waiting.for_kubelet(
            kubelet.get("healthzBindAddress") or "127.0.0.1",
            kubelet.get("healthzPort") or 10248,
            data.seconds("kubeletHealthCheck"),
            data.folders.kubelet,
        )
    finally:
        # The token in it is no longer needed, and others could use it.
        bootstrap.unlink(missing_ok=True)


PHASE = Phase(
    "kubelet-wait-bootstrap",
    "Wait for the kubelet to bootstrap itself",
    _run,
    flags="config cri-socket dry-run",
)
