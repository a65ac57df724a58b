"""The mechanism behind ReplicaSet and ReplicationController: a number of pods of one template."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.api.selectors import from_map
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS, as_ref
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers._objects.pods import (
    is_available,
    is_terminating,
    next_availability,
    ready_condition,
)
from pybernetes.control_plane.controllers._workload.batches import BURST, at_once, slow_start
from pybernetes.control_plane.controllers._workload.ownership import matcher
from pybernetes.control_plane.controllers._workload.ranking import by_deletion
from pybernetes.control_plane.controllers._workload.templates import pod_from
from pybernetes.control_plane.controllers._workload.workload_controller import WorkloadController, counts
from pybernetes.runtime import by_controller
from pybernetes.runtime.owned_objects import owner_reference


class Tally(NamedTuple):
    """How far pods have come."""

    replicas: int
    labeled: int  # with all labels of the template
    ready: int
    available: int


def tally(pods: Sequence[Object], template: Object, min_ready_seconds: int, now: float) -> Tally:
    """Count active pods."""
    complete = matcher(from_map(template.get("metadata", {}).get("labels")))
    labeled = ready = available = 0
    for pod in pods:
        if complete(pod["metadata"].get("labels")):
            labeled += 1
        if ready_condition(pod) is not None:
            ready += 1
            if not min_ready_seconds or is_available(pod, min_ready_seconds, now):
                available += 1
    return Tally(len(pods), labeled, ready, available)


def status_of(obj: Object, seen: Tally, terminating: int | None, error: str | None, now: float) -> Object:
    """Return the status of a set; ``error`` is why the last attempt to change the number of pods failed.

    ``terminating`` is None for a kind that does not report it.
    """
    old, spec = obj.get("status", {}), obj["spec"]
    result = counts(
        {"replicas": seen.replicas},
        fullyLabeledReplicas=seen.labeled, readyReplicas=seen.ready, availableReplicas=seen.available,
        observedGeneration=obj["metadata"].get("generation", 0),
    )  # fmt: skip
    status: Object = dict(result)
    if terminating is not None:
        status["terminatingReplicas"] = terminating
    list_ = old.get("conditions") or []
    known = conditions.find(list_, "ReplicaFailure")
    if error is not None and known is None:
        reason = "FailedCreate" if seen.replicas < spec.get("replicas", 1) else "FailedDelete"
        list_ = [*list_, conditions.condition("ReplicaFailure", "True", reason, error, now)]
    elif error is None and known is not None:
        list_ = conditions.without(list_, "ReplicaFailure")
    if list_:
        status["conditions"] = list_
    return status


class Replicas(WorkloadController):
    """Keeps the number of active pods at ``spec.replicas``."""

    owns = (PODS,)
    reports_terminating = True

    async def reconcile(self, key: str) -> float | None:
        """Create or delete pods, and write the status."""
        obj = self.objects.get(key)
        if obj is None:
            return None
        pods = await self.claimed(obj)
        error: StatusError | None = None
        if "deletionTimestamp" not in obj["metadata"]:
            error = await self._manage(obj, pods)
        now, spec = self.clock.now(), obj["spec"]
        min_ready_seconds = spec.get("minReadySeconds", 0)
        seen = tally(pods, spec["template"], min_ready_seconds, now)
        terminating = self._terminating(obj) if self.reports_terminating else None
        await self.write_status(obj, status_of(obj, seen, terminating, str(error) if error else None, now))
        if error is not None:
            raise error
        if seen.ready != seen.available:
            return next_availability(pods, min_ready_seconds, now)
        return None

    def _terminating(self, obj: Object) -> int:
        matches = matcher(self.selector_of(obj))
        owned = self.cache(PODS).find(by_controller, obj["metadata"]["uid"])
        return sum(is_terminating(pod) and matches(pod["metadata"].get("labels")) for pod in owned)

    async def _manage(self, obj: Object, pods: list[Object]) -> StatusError | None:
        """Create or delete the pods that are missing or too many, as far as one call may.

        Pods that it makes are added to ``pods``: they are there, whether the cache knows or not.
        """
        excess = len(pods) - obj["spec"].get("replicas", 1)
        if excess < 0:
            pod = pod_from(obj["spec"]["template"], obj, owner_reference(obj, as_ref(self.kind)))
            makers = [partial(self._make, obj, pod, pods)] * min(-excess, BURST)
            _, error = await slow_start(makers)
            return error
        if excess > 0:
            excess = min(excess, BURST)
            if excess < len(pods):
                pods = by_deletion(pods, self._related(obj, pods), self.clock.now())
            failures = await at_once(self.delete_pod(obj, pod) for pod in pods[:excess])
            return failures[0] if failures else None
        return None

    async def _make(self, obj: Object, pod: Object, pods: list[Object]) -> None:
        made = await self.create_pod(obj, pod)
        if made is not None:
            pods.append(made)

    def _related(self, obj: Object, pods: list[Object]) -> list[Object]:
        """Return the pods that count when looking for crowded nodes."""
        return pods
