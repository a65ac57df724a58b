"""Deployment: why its rollout does not go on, or it has fewer pods than it should."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import DEPLOYMENTS
from pybernetes.tools.why import workload
from pybernetes.tools.why.finding import Finding
from pybernetes.tools.why.world import Question, World, condition, said


def decide(deployment: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how a deployment stands, and why."""
    spec, findings = deployment["spec"], workload.decide(deployment, world)
    progress = condition(deployment, "Progressing")
    if progress.get("status") == "False":
        findings.insert(
            0, Finding("Its rollout has stopped: its pods did not become ready in time.", [said(progress)])
        )
    if spec.get("paused"):
        name, namespace = (deployment["metadata"][key] for key in ("name", "namespace"))
        command = f"kubectl rollout resume deployment/{name} -n {namespace}"
        findings.insert(0, Finding("It is paused: changes of its template wait.", command=command))
    return workload.ready_of(deployment, spec.get("replicas", 1)), findings


WHY = Question(DEPLOYMENTS, ("deployment", "deployments", "deploy"), workload.needs, decide)
