"""mark-control-plane: labels and taints of the node."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import NODES
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.kubelet_files import taint_text
from pybernetes.tools.kubeadm.locations import CONTROL_PLANE_LABEL, EXCLUDE_LABEL
from pybernetes.tools.kubeadm.objects import Objects
from pybernetes.tools.kubeadm.workflow import Phase


async def mark(objects: Objects, node: str, taints: list[Object], annotations: dict[str, str]) -> None:
    """Make a node one of the control plane's."""
    labels = (CONTROL_PLANE_LABEL, EXCLUDE_LABEL)
    say(
        f"[mark-control-plane] Marking the node {node} as control-plane by adding the labels: [{' '.join(labels)}]"
    )
    if taints:
        listed = " ".join(taint_text(taint) for taint in taints)
        say(f"[mark-control-plane] Marking the node {node} as control-plane by adding the taints [{listed}]")
    metadata = {"labels": dict.fromkeys(labels, ""), **({"annotations": annotations} if annotations else {})}
    await objects.patch(NODES, node, {"metadata": metadata})
    if taints:
        # Those that are there already are somebody else's.
        present = ((await objects.get(NODES, node) or {}).get("spec") or {}).get("taints") or []
        known = {(taint["key"], taint.get("effect")) for taint in taints}
        others = [taint for taint in present if (taint["key"], taint.get("effect")) not in known]
        await objects.patch(NODES, node, {"spec": {"taints": [*others, *taints]}})


async def _run(data: InitData) -> None:
    registration = data.init["nodeRegistration"]
    await mark(await data.objects(), data.node, registration.get("taints") or [], {})


PHASE = Phase("mark-control-plane", "Mark a node as a control-plane", _run, flags="config dry-run node-name")
