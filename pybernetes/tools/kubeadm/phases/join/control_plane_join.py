"""control-plane-join: labels and taints of the new control plane's node."""

from __future__ import annotations

from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.phases.init.mark_control_plane import mark
from pybernetes.tools.kubeadm.workflow import Phase


async def _mark(data: JoinData) -> None:
    if data.control_plane is None:
        return
    if data.dry_run:
        say(f"[control-plane-join] Would mark node {data.node} as a control plane")
        return
    await mark(await data.admin_objects(), data.node, data.registration.get("taints") or [], {})


PHASE = Phase(
    "control-plane-join",
    "Join a machine as a control plane instance",
    None,
    (
        Phase(
            "mark-control-plane",
            "Mark a node as a control-plane",
            _mark,
            flags="config control-plane dry-run node-name",
        ),
    ),
    flags="apiserver-advertise-address patches",
)
