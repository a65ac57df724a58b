"""ReplicaSet: why it has fewer pods than it should."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import REPLICA_SETS
from pybernetes.tools.why import workload
from pybernetes.tools.why.finding import Finding
from pybernetes.tools.why.world import Question, World


def decide(replica_set: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how a replica set stands, and why."""
    wanted = replica_set["spec"].get("replicas", 1)
    return workload.ready_of(replica_set, wanted), workload.decide(replica_set, world)


WHY = Question(REPLICA_SETS, ("replicaset", "replicasets", "rs"), workload.needs, decide)
