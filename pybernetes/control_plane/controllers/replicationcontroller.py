"""ReplicationController: what came before ReplicaSet, with a selector that is a plain map."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.api.selectors import NOTHING, Selector, from_map
from pybernetes.client.refs import REPLICATION_CONTROLLERS
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers._workload.ownership import by_plain_selector
from pybernetes.control_plane.controllers._workload.replicas import Replicas
from pybernetes.runtime.cache import IndexFunction


class ReplicationControllerController(Replicas):
    """The same mechanism for another kind."""

    name = "replicationmanager"
    component = "replication-controller"
    kind = REPLICATION_CONTROLLERS
    reports_terminating = False

    def selector_index(self) -> IndexFunction:
        """Return the index for plain maps."""
        return by_plain_selector

    def selector_of(self, obj: Object) -> Selector:
        """Return the selector that requires every label of the map."""
        return from_map(selector) if (selector := obj["spec"].get("selector")) else NOTHING


CONTROLLER = describe(
    ReplicationControllerController, "replicationcontroller", "rc", identity="replication-controller"
)
