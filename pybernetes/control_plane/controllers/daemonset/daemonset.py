"""DaemonSet: what to do is decided in ``plan``; here it is done."""

from __future__ import annotations

from functools import partial

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS
from pybernetes.control_plane.controllers._objects.pods import next_availability
from pybernetes.control_plane.controllers._workload import revisions
from pybernetes.control_plane.controllers._workload.batches import BURST, at_once, slow_start
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers._workload.history import current_revision
from pybernetes.control_plane.controllers._workload.workload_controller import WorkloadController
from pybernetes.control_plane.controllers.daemonset.backoff import Backoff
from pybernetes.control_plane.controllers.daemonset.plan import Plan, PlanInputs, fitness, plan, status_of
from pybernetes.control_plane.controllers.daemonset.template import node_of, pod_for
from pybernetes.runtime import Runtime, key_of
from pybernetes.runtime.owned_objects import controller_of, owner_reference


def by_target(pod: Object) -> tuple[str, ...]:
    """Index daemon pods by the node that they are on or for."""
    owner = controller_of(pod)
    if owner is None or owner["kind"] != "DaemonSet":
        return ()
    return (node_of(pod),)


class DaemonSetController(WorkloadController):
    """Makes every node have the daemon pods that the plan says."""

    name = "daemonset"
    component = "daemonset-controller"
    kind = DAEMON_SETS
    owns = (PODS,)
    children = (PODS, CONTROLLER_REVISIONS)
    indexes = {PODS: (by_target,)}

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._backoff = Backoff(runtime.clock)
        self.cache(NODES).add_handler(self._node_changed)

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        """Enqueue the DaemonSets for which a node has become fit or unfit."""
        if old is not None and new is not None and _outside(old) == _outside(new):
            return
        node = new or old
        assert node is not None
        name = node["metadata"]["name"]
        here = {self.owner_key(pod) for pod in self.cache(PODS).find(by_target, name)}
        for daemon_set in self.objects:
            key = key_of(daemon_set)
            should_run, may_stay = fitness(daemon_set)(node)
            misplaced = daemon_set.get("status", {}).get("numberMisscheduled", 0)
            if new is None:
                concerned = should_run or key in here
            elif key in here:
                concerned = not may_stay or misplaced or not old
            else:
                concerned = should_run
            if concerned or (old is not None and fitness(daemon_set)(old)[0] != should_run):
                self.enqueue(key)

    async def reconcile(self, key: str) -> float | None:
        """Give every node its pod, or take an update one step further."""
        daemon_set = self.objects.get(key)
        if daemon_set is None or "deletionTimestamp" in daemon_set["metadata"]:
            return None
        if not daemon_set["spec"].get("selector"):
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self.recorder.warning(daemon_set, "SelectingAll", text)
            return None
        reference = owner_reference(daemon_set, DAEMON_SETS)
        known = revisions.in_order(await self.claimed(daemon_set, CONTROLLER_REVISIONS, lambda _: True))
        collisions = daemon_set.get("status", {}).get("collisionCount", 0)
        current, now_collisions = await current_revision(
            self.client, daemon_set, reference, known, collisions, revisions.POD_LABEL
        )
        hash_ = current["metadata"]["labels"][revisions.POD_LABEL]
        pods = await self.claimed(daemon_set, PODS, lambda _: True)
        prefix = (
            f"{daemon_set['metadata']['uid']}/{daemon_set.get('status', {}).get('observedGeneration', 0)}/"
        )
        seen = PlanInputs(
            daemon_set, self.cache(NODES).values(), pods, hash_, self.clock.now(),
            lambda node: self._backoff.remaining(prefix + node),
        )  # fmt: skip
        todo = plan(seen)
        for node in todo.failed:
            self._backoff.note(prefix + node)
        error = await self._apply(daemon_set, todo, hash_, reference)
        await self._trim(daemon_set, known, current, pods)
        status = status_of(seen)
        if now_collisions != collisions:
            status["collisionCount"] = now_collisions
        await self.write_status(daemon_set, status)
        if error is not None:
            raise error
        waits = [todo.again, next_availability(pods, daemon_set["spec"].get("minReadySeconds", 0), seen.now)]
        return min((wait for wait in waits if wait is not None), default=None)

    async def _apply(
        self, daemon_set: Object, todo: Plan, hash_: str, reference: Object
    ) -> StatusError | None:
        for event in todo.events:
            self.recorder.event(daemon_set, *event)
        makers = [
            partial(self.create_pod, daemon_set, pod_for(daemon_set, node, hash_, reference))
            for node in todo.create[:BURST]
        ]
        _, error = await slow_start(makers)
        failures = await at_once(self.delete_pod(daemon_set, pod) for pod in todo.delete[:BURST])
        return error or (failures[0] if failures else None)

    async def _trim(
        self, daemon_set: Object, known: list[Object], current: Object, pods: list[Object]
    ) -> None:
        """Delete the oldest revisions that no pod comes from."""
        label = revisions.POD_LABEL
        hashes = {(pod["metadata"].get("labels") or {}).get(label) for pod in pods}
        live = {
            revision["metadata"]["name"] for revision in known if (revision["metadata"].get("labels") or {}).get(label) in hashes
        }  # fmt: skip
        live.add(current["metadata"]["name"])
        limit = daemon_set["spec"].get("revisionHistoryLimit", 10)
        namespace = daemon_set["metadata"]["namespace"]
        for revision in revisions.surplus(known, live, limit):
            await self.client.delete(CONTROLLER_REVISIONS, revision["metadata"]["name"], namespace)


def _outside(node: Object) -> tuple[object, object]:
    """Return the tests of nodes for a DaemonSet."""
    return node["metadata"].get("labels"), node.get("spec", {}).get("taints")


CONTROLLER = describe(
    DaemonSetController, "daemonset", "daemonset", identity="daemon-set-controller", count=2
)
