"""preflight: whether this machine can become a control plane."""

from __future__ import annotations

from pybernetes.tools.kubeadm.checks import control_plane_checks, run_as_root
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.phases._image_pull import pull
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: InitData) -> None:
    say("[preflight] Running pre-flight checks")
    await run_as_root(control_plane_checks(data.settings), data.ignored)
    await pull(data.cluster, data.init["nodeRegistration"], data.ignored, dry_run=data.dry_run)


PHASE = Phase(
    "preflight",
    "Run pre-flight checks",
    _run,
    flags="config cri-socket dry-run ignore-preflight-errors image-repository",
)
