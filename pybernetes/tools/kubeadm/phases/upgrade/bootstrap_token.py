"""bootstrap-token: what those may do who join, as the new version has it."""

from __future__ import annotations

from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.phases.init import bootstrap_token
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: UpgradeData) -> None:
    say("[upgrade/bootstrap-token] Configuring bootstrap token and cluster-info RBAC rules")
    objects = data.objects()
    await bootstrap_token.allow_joining(objects)
    await bootstrap_token.allow_reading(objects)


PHASE = Phase(
    "bootstrap-token",
    "Configures bootstrap token and cluster-info RBAC rules",
    _run,
    flags="config dry-run kubeconfig",
)
