"""Job: why it is not complete."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import JOBS, PODS
from pybernetes.tools.why import pod_containers, workload
from pybernetes.tools.why.finding import Finding, link_of
from pybernetes.tools.why.world import Question, World, condition, said

_SHOWN = 3


def decide(job: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how a job stands, and why."""
    status, findings = job.get("status") or {}, workload.decide(job, world)
    if job["spec"].get("suspend"):
        findings.insert(0, Finding("It is suspended."))
    failed = condition(job, "Failed")
    if failed.get("status") == "True":
        findings.insert(0, Finding("It has failed, and is not tried again.", [said(failed)]))
    findings += _failed_pods(world.all(PODS, job["metadata"]["namespace"]))
    done, wanted = status.get("succeeded") or 0, job["spec"].get("completions")
    state = f"{done} of {wanted} done" if wanted is not None else f"{done} done"
    return f"{state}, {status.get('active') or 0} active, {status.get('failed') or 0} failed", findings


def _failed_pods(pods: list[Object]) -> list[Finding]:
    failed = [pod for pod in pods if (pod.get("status") or {}).get("phase") == "Failed"]
    findings = []
    for pod in failed[:_SHOWN]:
        for finding in pod_containers.ended(pod):
            text = f"Pod {pod['metadata']['name']}: {finding.title}"
            findings.append(Finding(text, finding.details, [link_of(PODS, pod)]))
    return findings


WHY = Question(JOBS, ("job", "jobs"), workload.needs, decide)
