"""cleanup-node: stops the kubelet and its pods, and removes what kubeadm wrote."""

from __future__ import annotations

import functools
import operator
from pathlib import Path
from typing import Any

from pybernetes.lib.files import trees
from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.tools.kubeadm import kubelet_service, runtime
from pybernetes.tools.kubeadm.configuration.defaults import CERTIFICATES
from pybernetes.tools.kubeadm.configuration.validation import UNMOUNT_FLAGS
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.reset_data import ResetData
from pybernetes.tools.kubeadm.workflow import Phase

_CONFIGS = ("admin.conf", "super-admin.conf", "kubelet.conf", "bootstrap-kubelet.conf", "controller-manager.conf",
            "scheduler.conf")  # fmt: skip

_LEAST_PARTS = 3  # /, a folder of the system, and one of ours


async def _run(data: ResetData) -> None:
    folders = data.folders
    would = "[dryrun] Would" if data.dry_run else ""
    if would:
        say(f"{would} stop the kubelet service")
        say(f'{would} unmount mounted directories in "{folders.kubelet}"')
        say(f"{would} remove Kubernetes-managed containers")
    else:
        say("[reset] Stopping the kubelet service")
        # Manifests first: whatever starts the kubelet again finds nothing to run.
        _empty(folders.manifests)
        kubelet_service.stop(folders.kubelet)
        try:
            await runtime.remove_pods(data.configuration["criSocket"])
        except KubeadmError as error:
            say(f"[reset] Failed to remove containers: {error}")
        say(f'[reset] Unmounting mounted directories in "{folders.kubelet}"')
        try:
            host_mounts.unmount_below(folders.kubelet, *unmount_flags(data.configuration))
        except OSError as error:
            say(f"[reset] Not everything can be unmounted: {error}")
    certificates = Path(data.configuration["certificatesDir"])
    if str(certificates) != CERTIFICATES:
        say(f'[reset] WARNING: Cleaning a non-default certificates directory: "{certificates}"')
    emptied = [folders.manifests, folders.kubelet, certificates, *data.emptied]
    if data.configuration.get("cleanupTmpDir"):
        emptied.append(folders.kubernetes / "tmp")
    listed = " ".join(str(folder) for folder in emptied)
    files = [folders.kubernetes / name for name in _CONFIGS]
    names = " ".join(str(path) for path in files)
    if would:
        say(f"{would} delete contents of directories: [{listed}]")
        say(f"{would} delete files: [{names}]")
        return
    say(f"[reset] Deleting contents of directories: [{listed}]")
    for folder in emptied:
        _empty(folder)
    say(f"[reset] Deleting files: [{names}]")
    for path in files:
        path.unlink(missing_ok=True)


def unmount_flags(configuration: dict[str, Any]) -> tuple[int, ...]:
    """Return how mounts are let go of, if the configuration says so; else they are as soon as nobody uses them."""
    given = configuration.get("unmountFlags") or ()
    return (functools.reduce(operator.or_, (UNMOUNT_FLAGS[name] for name in given)),) if given else ()


def _empty(folder: Path) -> None:
    """Remove what is in a folder, and nothing that is still mounted there."""
    if not folder.is_dir():
        return
    if len(folder.resolve().parts) < _LEAST_PARTS:
        say(f'[reset] Not deleting contents of "{folder}": it belongs to the whole machine')
        return
    try:
        for path in folder.iterdir():
            trees.remove_path(path)
    except OSError as error:
        say(f'[reset] Failed to delete contents of "{folder}" directory: {error}')


PHASE = Phase(
    "cleanup-node",
    "Run cleanup node.",
    _run,
    flags="cert-dir cleanup-tmp-dir cri-socket dry-run",
    aliases=("cleanupnode",),
)
