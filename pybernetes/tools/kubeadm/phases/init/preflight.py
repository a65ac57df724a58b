"""preflight: whether this machine can become a control plane."""

from __future__ import annotations

from pybernetes.tools.kubeadm.checks import control_plane_checks, images, run
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: InitData) -> None:
    say("[preflight] Running pre-flight checks")
    await run(control_plane_checks(data.settings), data.ignored)
    if data.dry_run:
        say("[preflight] Would pull the required images (like 'kubeadm config images pull')")
        return
    say("[preflight] Pulling images required for setting up a Kubernetes cluster")
    say("[preflight] This might take a minute or two, depending on the speed of your internet connection")
    say("[preflight] You can also perform this action beforehand using 'kubeadm config images pull'")
    await run([images.ImagePull(data.cluster, data.init["nodeRegistration"])], data.ignored)


PHASE = Phase("preflight", "Run pre-flight checks", _run)
