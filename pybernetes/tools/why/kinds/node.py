"""Node: why it is not ready, or takes no pods."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import EVENTS, LEASES, NODES
from pybernetes.tools.why.finding import Finding, link
from pybernetes.tools.why.world import Need, Question, World, condition, said

_LEASES = "kube-node-lease"
_PRESSURES = {
    "MemoryPressure": "It is short of memory, and evicts pods.",
    "DiskPressure": "It is short of disk space, and evicts pods.",
    "PIDPressure": "It has too many processes, and evicts pods.",
    "NetworkUnavailable": "Its network is not set up.",
}


def needs(node: Object) -> list[Need]:
    """Return what decides about a node."""
    name = node["metadata"]["name"]
    selected = f"involvedObject.kind=Node,involvedObject.name={name}"
    return [Need(EVENTS, "default", fields=selected), Need(LEASES, _LEASES, name)]


def decide(node: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how a node stands, and why."""
    name, findings = node["metadata"]["name"], []
    ready = condition(node, "Ready")
    if ready.get("status") == "False":
        findings.append(Finding("Its kubelet says that it is not ready.", [said(ready)]))
    elif ready.get("status") != "True":
        lease = world.get(LEASES, name, _LEASES)
        renewed = (lease or {}).get("spec", {}).get("renewTime")
        details = [
            text
            for text in (said(ready), f"Its lease was renewed last at {renewed}." if renewed else "")
            if text
        ]
        links = [link(LEASES, name, _LEASES)] if lease else []
        findings.append(
            Finding(
                "Its kubelet is not heard from: the machine, the kubelet or the network is down.",
                details,
                links,
            )
        )
    for type_, text in _PRESSURES.items():
        item = condition(node, type_)
        if item.get("status") == "True":
            findings.append(Finding(text, [said(item)]))
    if node["spec"].get("unschedulable"):
        findings.append(Finding("It is cordoned: no new pods.", command=f"kubectl uncordon {name}"))
    taints = [
        f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"
        for taint in node["spec"].get("taints") or ()
        if not taint["key"].startswith("node.kubernetes.io/")
    ]
    if taints:
        findings.append(Finding("Only pods that tolerate its taints can be there.", taints, cause=False))
    warnings = [event for event in world.events() if event.get("type") == "Warning"]
    if warnings:
        findings.append(
            Finding("What it complained of last:", [said(event) for event in warnings[:3]], cause=False)
        )
    state = {"True": "Ready", "False": "NotReady"}.get(str(ready.get("status")), "unknown")
    return f"{state}, cordoned" if node["spec"].get("unschedulable") else state, findings


WHY = Question(NODES, ("node", "nodes", "no"), needs, decide)
