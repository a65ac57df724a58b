"""kubelet-start: tells the kubelet what to do, and starts it."""

from __future__ import annotations

from pybernetes.tools.kubeadm import kubelet_files, kubelet_service, patches
from pybernetes.tools.kubeadm.configuration.component_configs import KUBELET
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: InitData) -> None:
    registration = data.init["nodeRegistration"]
    if not data.dry_run:
        kubelet_service.stop(data.folders.kubelet)
    kubelet_files.write_flags(data.folders.kubelet, registration, register_taints=False, say=say)
    config = patches.patched("kubeletconfiguration", data.settings.components[KUBELET], data.patches, say)
    kubelet_files.write_config(data.folders.kubelet, config, registration, say)
    if not data.dry_run:
        say("[kubelet-start] Starting the kubelet")
        data.changed = True
        kubelet_service.start(data.folders.kubelet)


PHASE = Phase(
    "kubelet-start",
    "Write kubelet settings and (re)start the kubelet",
    _run,
    flags="config cri-socket dry-run image-repository node-name patches",
)
