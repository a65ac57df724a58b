"""Deployment: rolls a template out through ReplicaSets. What to do is decided in ``plan``; here it is done."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import AlreadyExists, StatusError
from pybernetes.client.refs import DEPLOYMENTS, PODS, REPLICA_SETS
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers._objects.deletion import is_namespace_terminating
from pybernetes.control_plane.controllers._objects.pods import is_terminal
from pybernetes.control_plane.controllers._workload.batches import at_once
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers._workload.workload_controller import WorkloadController
from pybernetes.control_plane.controllers.deployment import status as statuses
from pybernetes.control_plane.controllers.deployment.plan import Plan, plan
from pybernetes.control_plane.controllers.deployment.sets import same_template
from pybernetes.runtime import by_controller
from pybernetes.runtime.owned_objects import is_controlled_by, owner_reference


class DeploymentController(WorkloadController):
    """Makes the ReplicaSets of a Deployment be what the plan says."""

    name = "deployment"
    component = "deployment-controller"
    kind = DEPLOYMENTS
    owns = children = (REPLICA_SETS,)
    indexes = {PODS: (by_controller,)}

    async def reconcile(self, key: str) -> float | None:
        """Take one step of a rollout."""
        deployment = self.objects.get(key)
        if deployment is None:
            return None
        replica_sets = await self.claimed(deployment, REPLICA_SETS, lambda _: True)
        reference = owner_reference(deployment, DEPLOYMENTS)
        todo = plan(deployment, replica_sets, reference, self.clock.now(), self._has_pods)
        await self._apply(deployment, todo)
        return todo.again

    def _has_pods(self, replica_set: Object) -> bool:
        pods = self.cache(PODS).find(by_controller, replica_set["metadata"]["uid"])
        return any(not is_terminal(pod) for pod in pods)

    async def _apply(self, deployment: Object, todo: Plan) -> None:
        if todo.create is not None and not await self._create(deployment, todo.create):
            return
        for changed in todo.update:
            await self.client.update(REPLICA_SETS, changed)
        for event in todo.events:
            self.recorder.event(deployment, *event)
        if todo.replace is not None:
            await self.client.update(DEPLOYMENTS, todo.replace)
            return
        meta = deployment["metadata"]
        await at_once(self.client.delete(REPLICA_SETS, replica_set["metadata"]["name"], meta["namespace"]) for replica_set in todo.delete)  # fmt: skip
        if todo.annotations is not None:  # they go with the status, which is never the same then
            deployment = {**deployment, "metadata": {**meta, "annotations": todo.annotations}, "status": {}}
        if todo.status is not None:
            await self.write_status(deployment, todo.status)

    async def _create(self, deployment: Object, replica_set: Object) -> bool:
        """Create the new ReplicaSet; return False if the namespace is being deleted."""
        try:
            await self.client.create(REPLICA_SETS, replica_set)
        except AlreadyExists:
            meta = replica_set["metadata"]
            known = await self.client.get(REPLICA_SETS, meta["name"], meta["namespace"])
            template = deployment["spec"]["template"]
            if is_controlled_by(known, deployment) and same_template(known["spec"]["template"], template):
                return True
            # Another template has the same hash: the next attempt takes another one.
            status = deployment.get("status", {})
            collisions = status.get("collisionCount", 0) + 1
            await self.write_status(deployment, {**status, "collisionCount": collisions})
            raise
        except StatusError as error:
            if is_namespace_terminating(error):
                return False
            await self._report(deployment, replica_set, error)
            raise
        return True

    async def _report(self, deployment: Object, replica_set: Object, error: StatusError) -> None:
        text = f'Failed to create new replica set "{replica_set["metadata"]["name"]}": {error}'
        self.recorder.warning(deployment, "ReplicaSetCreateError", text)
        if statuses.has_deadline(deployment):
            status = deployment.get("status", {})
            word = statuses.condition("Progressing", "False", "ReplicaSetCreateError", text, self.clock.now())
            list_ = conditions.with_condition(status.get("conditions"), word)
            await self.write_status(deployment, {**status, "conditions": list_})


CONTROLLER = describe(DeploymentController, "deployment", "deployment")
