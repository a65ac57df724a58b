"""preflight: whether it is meant, and whether it is root who means it."""

from __future__ import annotations

from pybernetes.tools.kubeadm.checks import run
from pybernetes.tools.kubeadm.checks.machine import IsPrivilegedUser
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import confirmed, say
from pybernetes.tools.kubeadm.reset_data import ResetData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: ResetData) -> None:
    if not data.force and not data.dry_run:
        say(
            "[reset] WARNING: Changes made to this host by 'kubeadm init' or 'kubeadm join' will be reverted."
        )
        if not confirmed("reset"):
            raise KubeadmError("aborted reset operation")
    say("[preflight] Running pre-flight checks")
    await run([IsPrivilegedUser()], data.ignored)


PHASE = Phase(
    "preflight",
    "Run reset pre-flight checks",
    _run,
    flags="dry-run force ignore-preflight-errors",
    aliases=("pre-flight",),
)
