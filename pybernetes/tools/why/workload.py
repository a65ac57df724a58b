"""Why a workload has fewer pods than it should, or another number than somebody expected. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.client.refs import HORIZONTAL_POD_AUTOSCALERS, PODS, RESOURCE_QUOTAS
from pybernetes.tools.why.finding import Finding, link_of, listed
from pybernetes.tools.why.world import Need, World, about, condition, said

_SHOWN = 5


def needs(workload: Object) -> list[Need]:
    """Return what decides about a workload."""
    namespace = workload["metadata"]["namespace"]
    wanted = (workload["spec"].get("selector") or {}).get("matchLabels") or {}
    labels = ",".join(f"{key}={value}" for key, value in wanted.items())
    return [
        about(workload),
        Need(PODS, namespace, labels=labels),
        Need(RESOURCE_QUOTAS, namespace),
        Need(HORIZONTAL_POD_AUTOSCALERS, namespace),
    ]


def pods_of(workload: Object, world: World) -> list[Object]:
    """Return the pods that a workload selects and that are not over."""
    selector = selectors.from_object(workload["spec"].get("selector"))
    namespace = workload["metadata"]["namespace"]
    return [
        pod
        for pod in world.all(PODS, namespace)
        if selector.matches(pod["metadata"].get("labels") or {})
        and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
    ]


def decide(workload: Object, world: World) -> list[Finding]:
    """Return what all workloads have in common: creation that is refused, pods that are not ready, who set the number."""
    return [*refused(workload, world), *unready(pods_of(workload, world)), *scaled(workload, world)]


def refused(workload: Object, world: World) -> list[Finding]:
    """Say why pods cannot be created."""
    failure = condition(workload, "ReplicaFailure")
    message = str(failure.get("message") or "") if failure.get("status") == "True" else ""
    message = message or world.message("FailedCreate")
    if not message:
        return []
    if "exceeded quota" in message:
        quotas = [quota for quota in world.all(RESOURCE_QUOTAS) if quota["metadata"]["name"] in message]
        details = [message, *(line for quota in quotas for line in _quota(quota))]
        links = [link_of(RESOURCE_QUOTAS, quota) for quota in quotas]
        return [Finding("A quota of its namespace allows no more pods.", details, links)]
    if "violates PodSecurity" in message:
        return [Finding("Its namespace's security standard does not allow such pods.", [message])]
    return [Finding("Its pods are refused.", [message])]


def _quota(quota: Object) -> list[str]:
    status = quota.get("status") or {}
    used, hard = status.get("used") or {}, status.get("hard") or {}
    return [
        f"{quota['metadata']['name']}: {name} {used.get(name, '0')} of {hard[name]}" for name in sorted(hard)
    ]


def unready(pods: Iterable[Object]) -> list[Finding]:
    """Say which pods are not ready."""
    waiting = [pod for pod in pods if condition(pod, "Ready").get("status") != "True"]
    if not waiting:
        return []
    first = waiting[0]["metadata"]
    names = listed(pod["metadata"]["name"] for pod in waiting)
    text = f"{len(waiting)} pods are not ready: {names}."
    if len(waiting) == 1:
        text = f"1 pod is not ready: {names}."
    command = f"pyb why pod/{first['name']} -n {first['namespace']}"
    return [Finding(text, [], [link_of(PODS, pod) for pod in waiting[:_SHOWN]], command)]


def scaled(workload: Object, world: World) -> list[Finding]:
    """Say who decided how many pods there are to be."""
    name, kind = workload["metadata"]["name"], workload.get("kind")
    findings = []
    for autoscaler in world.all(HORIZONTAL_POD_AUTOSCALERS):
        target = autoscaler["spec"].get("scaleTargetRef") or {}
        if target.get("kind") == kind and target.get("name") == name:
            own = autoscaler["metadata"]
            text = f"The autoscaler {own['name']} decides how many pods there are."
            command = f"pyb why hpa/{own['name']} -n {own['namespace']}"
            links = [link_of(HORIZONTAL_POD_AUTOSCALERS, autoscaler)]
            findings.append(Finding(text, [], links, command, cause=False))
    writer = _writer(workload)
    if writer and "replicas" in workload["spec"]:
        text = f"{workload['spec']['replicas']} pods are asked for: {writer}."
        findings.append(Finding(text, cause=False))
    if workload["spec"].get("replicas") == 0:
        findings.insert(0, Finding("It is asked to have no pods."))
    return findings


def _writer(workload: Object) -> str:
    """Say who wrote the number of replicas, as the managed fields tell."""
    for entry in workload["metadata"].get("managedFields") or ():
        if "f:replicas" in ((entry.get("fieldsV1") or {}).get("f:spec") or {}):
            by = f"{entry.get('manager', '')} wrote that at {entry.get('time', '')}"
            return f"{by} (scale)" if entry.get("subresource") == "scale" else by
    return ""


def ready_of(workload: Object, wanted: int, field: str = "readyReplicas") -> str:
    """Say how many pods are ready."""
    return f"{(workload.get('status') or {}).get(field) or 0} of {wanted} pods ready"


def stalled(workload: Object, type_: str) -> list[Finding]:
    """Say that a condition which should be true is not."""
    item = condition(workload, type_)
    if item.get("status") != "False":
        return []
    return [Finding(f"{type_} is false.", [said(item)])]
