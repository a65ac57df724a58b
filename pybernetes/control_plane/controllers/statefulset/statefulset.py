"""StatefulSet: what to do is decided in ``plan``; here it is done."""

from __future__ import annotations

from functools import partial

from pybernetes.api.resource import Object
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from pybernetes.control_plane.controllers._objects.deletion import is_namespace_terminating
from pybernetes.control_plane.controllers._objects.pods import next_availability
from pybernetes.control_plane.controllers._workload import revisions
from pybernetes.control_plane.controllers._workload.batches import (
    at_once,
    slow_start,
)
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers._workload.history import current_revision
from pybernetes.control_plane.controllers._workload.workload_controller import WorkloadController
from pybernetes.control_plane.controllers.statefulset import identity, retention
from pybernetes.control_plane.controllers.statefulset.identity import ordinal, place, revision_of
from pybernetes.control_plane.controllers.statefulset.plan import PlanInputs, Step, at_a_time, plan
from pybernetes.runtime import Runtime
from pybernetes.runtime.owned_objects import owner_reference


class StatefulSetController(WorkloadController):
    """Makes the pods and claims of a StatefulSet be what the plan says."""

    name = "statefulset"
    component = "statefulset-controller"
    kind = STATEFUL_SETS
    owns = (PODS,)
    children = (PODS, CONTROLLER_REVISIONS)

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.cache(PERSISTENT_VOLUME_CLAIMS)

    async def reconcile(self, key: str) -> float | None:
        """Take one step of scaling or updating."""
        stateful_set = self.objects.get(key)
        if stateful_set is None:
            return None
        known = revisions.in_order(await self.claimed(stateful_set, CONTROLLER_REVISIONS, lambda _: True))
        name = stateful_set["metadata"]["name"]
        pods = await self.claimed(stateful_set, PODS, lambda _: True, lambda pod: place(pod)[0] == name)
        reference = owner_reference(stateful_set, STATEFUL_SETS)
        status = stateful_set.get("status", {})
        collisions = status.get("collisionCount", 0)
        update, collisions = await current_revision(self.client, stateful_set, reference, known, collisions)
        named = {revision["metadata"]["name"]: revision for revision in known}
        current = named.get(status.get("currentRevision", ""), update)
        namespace, cache, now = stateful_set["metadata"]["namespace"], self.cache(PERSISTENT_VOLUME_CLAIMS), self.clock.now()  # fmt: skip
        todo = plan(
            PlanInputs(stateful_set, reference, pods, current, update, collisions,
                 lambda claim: cache.get(f"{namespace}/{claim}"), now)
        )  # fmt: skip
        error = await self._apply(stateful_set, todo.steps)
        await self.write_status(stateful_set, todo.status)
        if error is not None:
            raise error
        live = {revision["metadata"]["name"] for revision in (current, update)} | {
            revision_of(pod) for pod in pods
        }
        limit = stateful_set["spec"].get("revisionHistoryLimit", 10)
        for revision in revisions.surplus(known, live, limit):
            await self.client.delete(CONTROLLER_REVISIONS, revision["metadata"]["name"], namespace)
        if todo.status.get("readyReplicas", 0) != todo.status["availableReplicas"]:
            return next_availability(pods, stateful_set["spec"].get("minReadySeconds", 0), now)
        return None

    async def _apply(self, stateful_set: Object, steps: list[Step]) -> StatusError | None:
        """Carry out the steps, those of one verb together; return the first failure."""
        size = at_a_time(stateful_set)
        for verb in ("claims", "update", "delete"):
            chosen = [step for step in steps if step.verb == verb]
            for start in range(0, len(chosen), size):
                some = chosen[start : start + size]
                failures = await at_once(self._step(stateful_set, step) for step in some)
                if failures:
                    return failures[0]
        creations = [step for step in steps if step.verb == "create"]
        _, error = await slow_start([partial(self._step, stateful_set, creation) for creation in creations])
        return error

    async def _step(self, stateful_set: Object, step: Step) -> None:
        pod = step.pod
        if step.verb == "claims":
            await self._see_to_claims(stateful_set, pod)
            return
        try:
            if step.verb == "create":
                await self._see_to_claims(stateful_set, pod)
                await self.client.create(PODS, pod)
            elif step.verb == "update":
                await self._see_to_claims(stateful_set, pod)
                await self.client.update(PODS, identity.itself(stateful_set, pod))
            else:
                meta = pod["metadata"]
                await self.client.delete(PODS, meta["name"], meta["namespace"], uid=meta["uid"])
        except AlreadyExists:
            raise  # somebody else's pod has the name; nobody else is told
        except NotFound:
            if step.verb != "delete":
                raise
        except StatusError as error:
            if is_namespace_terminating(error):
                return
            self._tell(stateful_set, step.verb, f"Pod {pod['metadata']['name']}", error)
            raise
        self._tell(stateful_set, step.verb, f"Pod {pod['metadata']['name']}")

    async def _see_to_claims(self, stateful_set: Object, pod: Object) -> None:
        """Create the missing claims of a pod, and give all of them the owner that they are to have."""
        cache, number = self.cache(PERSISTENT_VOLUME_CLAIMS), ordinal(pod)
        for wanted in identity.claims_of(stateful_set, number):
            meta = wanted["metadata"]
            claim = cache.get(f"{meta['namespace']}/{meta['name']}")
            if claim is None:
                claim = await self._make_claim(stateful_set, pod, wanted)
            elif "deletionTimestamp" in claim["metadata"] and not pod.get("status"):
                raise StatusError(409, "Conflict", f"pvc {meta['name']} is being deleted")
            if retention.has_stranger(claim, stateful_set, pod):
                text = (
                    f"PersistentVolumeClaim {meta['name']} has a conflicting OwnerReference that acts as a manging "
                    "controller, the retention policy is ignored for this claim"
                )
                self.recorder.warning(stateful_set, "ConflictingController", text)
            owners = retention.owners(claim, stateful_set, pod)
            if owners is not None:
                changed = {**claim, "metadata": {**claim["metadata"], "ownerReferences": owners}}
                await self.client.update(PERSISTENT_VOLUME_CLAIMS, changed)

    async def _make_claim(self, stateful_set: Object, pod: Object, wanted: Object) -> Object:
        what = f"Claim {wanted['metadata']['name']} Pod {pod['metadata']['name']}"
        try:
            made = await self.client.create(PERSISTENT_VOLUME_CLAIMS, wanted)
        except AlreadyExists:
            raise
        except StatusError as error:
            self._tell(stateful_set, "create", what.replace(" Pod ", " for Pod "), error)
            raise
        self._tell(stateful_set, "create", what, success="success")
        return made

    def _tell(
        self,
        stateful_set: Object,
        verb: str,
        what: str,
        error: StatusError | None = None,
        success: str = "successful",
    ) -> None:
        text = f"{verb.capitalize()} {what} in StatefulSet {stateful_set['metadata']['name']}"
        if error is None:
            self.recorder.normal(stateful_set, f"Successful{verb.capitalize()}", f"{text} {success}")
        else:
            self.recorder.warning(stateful_set, f"Failed{verb.capitalize()}", f"{text} failed error: {error}")


CONTROLLER = describe(StatefulSetController, "statefulset", "statefulset")
