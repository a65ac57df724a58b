"""StatefulSet: why it has fewer pods than it should."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import STATEFUL_SETS
from pybernetes.tools.why import workload
from pybernetes.tools.why.finding import Finding
from pybernetes.tools.why.world import Question, World


def decide(stateful_set: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how a stateful set stands, and why; its pods come one after the other unless it says otherwise."""
    spec, findings = stateful_set["spec"], workload.decide(stateful_set, world)
    waiting = workload.unready(workload.pods_of(stateful_set, world))
    fewer = len(workload.pods_of(stateful_set, world)) < spec.get("replicas", 1)
    if waiting and fewer and spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady":
        text = (
            "Its other pods wait for that: they come one after the other (podManagementPolicy OrderedReady)."
        )
        findings.append(Finding(text, cause=False))
    return workload.ready_of(stateful_set, spec.get("replicas", 1)), findings


WHY = Question(STATEFUL_SETS, ("statefulset", "statefulsets", "sts"), workload.needs, decide)
