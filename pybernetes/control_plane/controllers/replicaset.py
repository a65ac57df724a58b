"""ReplicaSet: keeps a number of pods of one template."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import PODS, REPLICA_SETS
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers._workload.replicas import Replicas
from pybernetes.runtime import by_controller
from pybernetes.runtime.owned_objects import controller_of


class ReplicaSetController(Replicas):
    """Looks at its siblings too: pods go first from nodes that are full of pods of the same Deployment."""

    name = "replicaset"
    component = "replicaset-controller"
    kind = REPLICA_SETS
    indexes = {REPLICA_SETS: (by_controller,)}

    def _related(self, obj: Object, pods: list[Object]) -> list[Object]:
        owner = controller_of(obj)
        if owner is None:
            return pods
        siblings = self.objects.find(by_controller, owner["uid"])
        cache = self.cache(PODS)
        return [pod for sibling in siblings for pod in cache.find(by_controller, sibling["metadata"]["uid"])]


CONTROLLER = describe(ReplicaSetController, "replicaset", "replicaset")
