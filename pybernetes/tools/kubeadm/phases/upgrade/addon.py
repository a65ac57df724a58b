"""addon: DNS and kube-proxy of the new version, once the last control plane has it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import NAMESPACE
from pybernetes.tools.kubeadm.phases.init import addon
from pybernetes.tools.kubeadm.upgrade.data import UpgradeData
from pybernetes.tools.kubeadm.workflow import Phase

_SERVER = "kube-apiserver"


async def _others(data: UpgradeData) -> list[str]:
    """Return the nodes whose API servers still have another image than this one's."""
    try:
        page = await data.session.client.list(PODS, NAMESPACE, labels=f"component={_SERVER}")
    except (StatusError, OSError) as error:
        raise KubeadmError(f"failed to list kube-apiserver Pod from cluster: {error}") from None
    images = {
        (pod.get("spec") or {}).get("nodeName", ""): container.get("image")
        for pod in page.items
        for container in (pod.get("spec") or {}).get("containers") or ()
        if container.get("name") == _SERVER
    }
    if data.node not in images:
        raise KubeadmError(f"cannot find kube-apiserver image for current control plane instance {data.node}")
    return sorted(node for node, image in images.items() if image != images[data.node])


def _make(phase: Phase) -> Callable[[UpgradeData], Awaitable[None]]:
    async def run(data: UpgradeData) -> None:
        if not data.control_plane:
            say(f"[upgrade/addon] Skipping the addon/{phase.name} phase. Not a control plane node.")
            return
        data.cluster["kubernetesVersion"] = data.target
        others = [] if data.dry_run else await _others(data)
        if others:
            say(
                f"[upgrade/addon] Skipping upgrade of addons because control plane instances [{' '.join(others)}] have not "
                "been upgraded"
            )
            return
        if phase.run is not None:
            await phase.run(data.init_data())

    return run


PHASE = Phase(
    "addon",
    "Upgrade the default kubeadm addons",
    None,
    tuple(
        Phase(
            phase.name,
            f"Upgrade the {phase.name} addon",
            _make(phase),
            flags="config dry-run kubeconfig patches",
            optional=phase.optional,
        )
        for phase in addon.PHASE.phases
    ),
)
