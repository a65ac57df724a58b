"""kubelet-config: this machine's kubelet gets the configuration that the cluster has for it."""

from __future__ import annotations

import shutil
import time

from pybernetes.tools.kubeadm import kubelet_files, kubelet_service, patches
from pybernetes.tools.kubeadm.configuration.component_configs import KUBELET
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import TEMPORARY
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: UpgradeData) -> None:
    folder = data.folders.kubelet
    backup = TEMPORARY / f"kubeadm-kubelet-config-{time.strftime('%Y-%m-%d-%H-%M-%S')}"
    if data.dry_run:
        say(f"[dryrun] Would back up kubelet config file to {backup / 'config.yaml'}")
    elif (folder / "config.yaml").exists():
        backup.mkdir(parents=True, exist_ok=True, mode=0o700)
        say(f"[upgrade] Backing up kubelet config file to {backup / 'config.yaml'}")
        shutil.copy2(folder / "config.yaml", backup / "config.yaml")
    settings = data.session.settings
    config = patches.patched("kubeletconfiguration", settings.components[KUBELET], data.patches, say)
    kubelet_files.write_config(folder, config, settings.init["nodeRegistration"], say)
    if data.dry_run:
        for name in ("instance-config.yaml", "config.yaml"):
            say(f'[dryrun] Would write file "{name}" with content:\n{(folder / name).read_text()}')
        return
    kubelet_service.stop(folder)
    kubelet_service.start(folder)
    say("[upgrade/kubelet-config] The kubelet configuration for this node was successfully upgraded!")


PHASE = Phase(
    "kubelet-config",
    "Upgrade the kubelet configuration for this node",
    _run,
    flags="config dry-run kubeconfig patches",
)
