"""wait-control-plane: until the pods of the new control plane answer."""

from __future__ import annotations

from pybernetes.tools.kubeadm import waiting
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: JoinData) -> None:
    if data.control_plane is None:
        return
    if data.dry_run:
        say("[wait-control-plane] Would wait for the control plane to start")
        return
    settings = await data.settings()
    await waiting.for_control_plane(
        waiting.endpoints(settings.cluster, data.address, data.endpoint["bindPort"]),
        data.seconds("controlPlaneComponentHealthCheck"),
        data.folders.kubelet,
    )


PHASE = Phase("wait-control-plane", "Wait for the control plane to start", _run)
