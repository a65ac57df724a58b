"""Pod: why it waits, does not start, restarts, is not ready, or has ended."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import CONFIG_MAPS, NODES, PERSISTENT_VOLUME_CLAIMS, PODS, SECRETS
from pybernetes.tools.why import pod_containers, pod_ending, pod_scheduling
from pybernetes.tools.why.finding import Finding
from pybernetes.tools.why.pod_containers import references
from pybernetes.tools.why.world import Need, Question, World, about, condition


def needs(pod: Object) -> list[Need]:
    """Return what decides about a pod; of Secrets and ConfigMaps only that they are there."""
    namespace, spec = pod["metadata"]["namespace"], pod["spec"]
    result = [about(pod)]
    if spec.get("nodeName"):
        result.append(Need(NODES, name=spec["nodeName"]))
    for name in pod_scheduling.claims(pod):
        result.append(Need(PERSISTENT_VOLUME_CLAIMS, namespace, name))
    for ref, name in references(pod):
        result.append(Need(ref, namespace, name, metadata_only=ref in (CONFIG_MAPS, SECRETS)))
    return result


def decide(pod: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how a pod stands, and why."""
    status = pod.get("status") or {}
    phase = status.get("phase") or "Pending"
    findings = pod_ending.decide(pod, world)
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating", findings
    if phase in ("Failed", "Succeeded"):
        return phase, [*findings, *pod_containers.ended(pod)]
    if not pod["spec"].get("nodeName"):
        return "Pending, without a node", [*findings, *pod_scheduling.decide(pod, world)]
    findings += pod_containers.decide(pod, world)
    if phase == "Pending":
        return f"Pending on {pod['spec']['nodeName']}", findings
    ready = condition(pod, "Ready").get("status") == "True"
    return f"{phase}, ready" if ready else f"{phase}, not ready", findings


WHY = Question(PODS, ("pod", "pods", "po"), needs, decide)
