"""post-upgrade: what a version wants done after everything else; this one wants nothing."""

from __future__ import annotations

from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: UpgradeData) -> None:
    say("[upgrade/post-upgrade] There is nothing left to do on this machine")


PHASE = Phase("post-upgrade", "Run post upgrade tasks", _run, flags="config dry-run kubeconfig")
