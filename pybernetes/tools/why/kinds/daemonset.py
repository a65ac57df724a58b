"""DaemonSet: why it is not on every node."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import DAEMON_SETS
from pybernetes.tools.why import workload
from pybernetes.tools.why.finding import Finding
from pybernetes.tools.why.world import Question, World


def decide(daemon_set: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how a daemon set stands, and why."""
    status, findings = daemon_set.get("status") or {}, workload.decide(daemon_set, world)
    wanted = status.get("desiredNumberScheduled") or 0
    if not wanted:
        text = "No node is for it: its node selector, its affinity and the taints of nodes decide."
        findings.insert(0, Finding(text, command="kubectl get nodes --show-labels"))
    return workload.ready_of(daemon_set, wanted, "numberReady"), findings


WHY = Question(DAEMON_SETS, ("daemonset", "daemonsets", "ds"), workload.needs, decide)
