"""Why a pod has ended, or is about to: evicted, preempted, refused by its node, deleted and not gone. Pure."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import NODES
from pybernetes.tools.why.finding import Finding, link, listed
from pybernetes.tools.why.world import World, condition, said

# What the reason of a pod's end means, by DisruptionTarget's reason or the status's.
_MEANING = {
    "Evicted": "Its node evicted it.",
    "TerminationByKubelet": "Its node ended it: for lack of resources, or because the node was shut down.",
    "PreemptionByScheduler": "The scheduler evicted it to make room for a pod of higher priority.",
    "DeletionByTaintManager": "Its node got a taint that it does not tolerate (for long enough).",
    "EvictionByEvictionAPI": "Somebody asked for its eviction: a drain, the descheduler or an autoscaler.",
    "DeletionByPodGC": "It was cleaned away: its node is gone.",
    "NodeLost": "Its node is not heard from any more.",
    "DeadlineExceeded": "It was active for longer than activeDeadlineSeconds allows.",
    "Preempting": "Its node needed the room for a critical pod.",
    "NodeShutdown": "Its node was shut down.",
    "Terminated": "Its node was shut down.",
    "UnexpectedAdmissionError": "Its node could not take it.",
    "NodeAffinity": "Its node does not have the labels that it asks for (any more).",
}


def decide(pod: Object, world: World) -> list[Finding]:
    """Return what ended a pod, or keeps a deleted one."""
    status, findings = pod.get("status") or {}, []
    disruption = condition(pod, "DisruptionTarget")
    node = pod["spec"].get("nodeName")
    links = [link(NODES, node)] if node else []
    if disruption.get("status") == "True":
        reason = str(disruption.get("reason") or "")
        details = [text for text in (said(disruption), world.message("Preempted", "Evicted")) if text]
        findings.append(Finding(_MEANING.get(reason, f"It was disrupted: {reason}."), details, links))
    elif status.get("reason"):
        reason = str(status["reason"])
        refused = reason.startswith("OutOf")
        text = (
            f"Its node has no room for it: {reason.removeprefix('OutOf')}."
            if refused
            else f"It ended: {reason}."
        )
        findings.append(Finding(_MEANING.get(reason, text), [said(status)], links))
    if pod["metadata"].get("deletionTimestamp"):
        findings.append(_deleted(pod, world))
    return findings


def _deleted(pod: Object, world: World) -> Finding:
    meta, node = pod["metadata"], pod["spec"].get("nodeName")
    since = f"It was deleted at {meta['deletionTimestamp']} (the end of its grace period)"
    held = meta.get("finalizers") or []
    if held:
        return Finding(f"{since}; the finalizer {listed(held)} keeps it until its owner takes it away.")
    there = world.get(NODES, node) if node else None
    if node and there is None and world.is_known(NODES):
        return Finding(f"{since}; its node {node} is gone, so nobody ends it.", links=[link(NODES, node)])
    if there is not None and condition(there, "Ready").get("status") != "True":
        text = f"{since}; its node {node} is not ready, and has to say that its containers have ended."
        return Finding(text, [said(condition(there, "Ready"))], [link(NODES, str(node))])
    stopping = world.message("Killing", "FailedKillPod", "FailedPreStopHook")
    return Finding(f"{since}; its containers are being stopped.", [stopping] if stopping else [], cause=False)
