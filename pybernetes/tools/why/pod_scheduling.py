"""Why a pod has no node: gates, its scheduler, its claims, and what the scheduler's rules say of every node. Pure."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import NODES, PERSISTENT_VOLUME_CLAIMS
from pybernetes.scheduling.explanation import Explanation
from pybernetes.tools.why.finding import Finding, NodeGroup, link, listed
from pybernetes.tools.why.world import World, condition

_SHOWN_NODES = 50


def claims(pod: Object) -> list[str]:
    """Return the names of the claims that a pod uses."""
    names = []
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            names.append(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            names.append(f"{pod['metadata']['name']}-{volume['name']}")
    return names


def decide(pod: Object, world: World) -> list[Finding]:
    """Return what keeps a pod from its node."""
    gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
    if gates:
        held = "Whoever put the gate there takes it away when the pod may be scheduled."
        return [Finding(f"It is held back by the scheduling gate {listed(gates)}.", [held])]
    findings = [*_claims(pod, world), *_scheduler(pod, world)]
    nominated = (pod.get("status") or {}).get("nominatedNodeName")
    if nominated:
        text = f"Room is being made for it on {nominated}: other pods are being evicted there."
        findings.append(Finding(text, links=[link(NODES, nominated)], cause=False))
    return findings


def _claims(pod: Object, world: World) -> list[Finding]:
    namespace = pod["metadata"]["namespace"]
    findings = []
    for name in claims(pod):
        claim = world.get(PERSISTENT_VOLUME_CLAIMS, name, namespace)
        where = [link(PERSISTENT_VOLUME_CLAIMS, name, namespace)]
        if claim is None:
            if world.is_known(PERSISTENT_VOLUME_CLAIMS):
                findings.append(Finding(f"Its claim {name} does not exist.", links=where))
        elif (claim.get("status") or {}).get("phase") != "Bound":
            phase = (claim.get("status") or {}).get("phase") or "Pending"
            command = f"pyb why pvc/{name} -n {namespace}"
            cause = phase == "Lost"
            findings.append(
                Finding(f"Its claim {name} has no volume yet ({phase}).", [], where, command, cause=cause)
            )
    return findings


def _scheduler(pod: Object, world: World) -> list[Finding]:
    scheduled, name = condition(pod, "PodScheduled"), pod["spec"].get("schedulerName") or "default-scheduler"
    message = str(scheduled.get("message") or world.message("FailedScheduling"))
    if world.explanation is not None:
        return [_verdict(world.explanation, world.nodes, message)]
    if message:
        return [Finding("The scheduler found no node for it.", [message])]
    if scheduled:
        return []
    text = f"No scheduler has looked at it yet: it asks for {name}, which may not run."
    return [Finding(text, command="kubectl get leases -n kube-system")]


def _verdict(explanation: Explanation, nodes: int, message: str) -> Finding:
    """Say what the scheduler's rules say of every node now."""
    details = [f"The scheduler's last words: {message}"] if message else []
    if explanation.rejection:
        return Finding("It can be on no node at all, whichever there are.", [explanation.rejection, *details])
    if explanation.feasible:
        best = listed(explanation.best, 3)
        text = (
            f"By the scheduler's rules {explanation.feasible} of {nodes} nodes would do now (best: {best})."
        )
        return Finding(text, [*details, "It will be tried again soon."], cause=False)
    groups = [
        NodeGroup(verdict.plugin, verdict.reason, verdict.nodes[:_SHOWN_NODES])
        for verdict in explanation.verdicts
    ]
    reasons = [
        f"{len(verdict.nodes)} of {nodes} nodes: {verdict.reason} ({verdict.plugin}): {listed(verdict.nodes)}"
        for verdict in explanation.verdicts
    ]
    links = [link(NODES, name) for verdict in explanation.verdicts for name in verdict.nodes[:3]]
    if not nodes:
        return Finding("There are no nodes.", details, command="kubectl get nodes")
    title = f"None of the {nodes} nodes will do." if nodes > 1 else "The only node will not do."
    return Finding(title, [*reasons, *details], list(dict.fromkeys(links)), nodes=groups)
