"""upload-config: the configuration of the new version, for those who join and for the nodes that are upgraded next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.tools.kubeadm.phases.init import upload_config
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData
from pybernetes.tools.kubeadm.workflow import Phase


def _make(phase: Phase) -> Callable[[UpgradeData], Awaitable[None]]:
    async def run(data: UpgradeData) -> None:
        data.cluster["kubernetesVersion"] = data.target
        if phase.run is not None:
            await phase.run(data.init_data())

    return run


PHASE = Phase(
    "upload-config",
    "Upload the kubeadm and kubelet configurations to ConfigMaps",
    None,
    tuple(
        Phase(phase.name, phase.short, _make(phase), flags="config dry-run kubeconfig")
        for phase in upload_config.PHASE.phases
    ),
    aliases=("uploadconfig",),
)
