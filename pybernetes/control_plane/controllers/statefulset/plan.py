"""What is to be done about a StatefulSet: a pure function of it, its pods, claims and revisions, and the time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import (
    is_available,
    is_ready,
    is_terminal,
    phase,
)
from pybernetes.control_plane.controllers._workload.batches import BURST
from pybernetes.control_plane.controllers._workload.revisions import template_of
from pybernetes.control_plane.controllers._workload.templates import scaled
from pybernetes.control_plane.controllers.statefulset import identity, retention
from pybernetes.control_plane.controllers.statefulset.identity import ordinal, ordinals, revision_of
from pybernetes.control_plane.controllers.statefulset.retention import Lookup


class Step(NamedTuple):
    """Something to do with a pod: ``create``, ``delete``, ``update``, or see to its ``claims``."""

    verb: str
    pod: Object


@dataclass
class Plan:
    """Steps in order, and the status that is true before them."""

    status: Object
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class PlanInputs:
    """All that a plan depends on."""

    stateful_set: Object
    reference: Object
    pods: list[Object]
    current: Object  # the revision that the set comes from
    update: Object  # the revision that it goes to
    collisions: int
    claim: Lookup
    now: float


def at_a_time(stateful_set: Object) -> int:
    """Return how many pods are seen to at once: fewer if each of them has many claims."""
    return max(1, BURST // (1 + len(stateful_set["spec"].get("volumeClaimTemplates") or ())))


def plan(seen: PlanInputs) -> Plan:
    """Decide which pods and claims to create, change and delete."""
    return _Planner(seen).plan()


class _Planner:
    def __init__(self, seen: PlanInputs) -> None:
        self.seen, self.set = seen, seen.stateful_set
        spec = self.set["spec"]
        self.min_ready_seconds = spec.get("minReadySeconds", 0)
        self.ordered = spec.get("podManagementPolicy") != "Parallel"
        self.update = seen.update["metadata"]["name"]
        # A set may have two thousand million places: only pods that are there, and as many new ones as are made at a time,
        # are gone through.
        self.places = ordinals(self.set)
        there = {ordinal(pod): pod for pod in seen.pods}
        self.there = {number: there[number] for number in sorted(there) if number in self.places}
        self.condemned = sorted(
            (pod for number, pod in there.items() if number >= 0 and number not in self.places), key=ordinal, reverse=True
        )  # fmt: skip
        self.created = 0
        self.steps: list[Step] = []
        self.deleted_for_update = 0

    def plan(self) -> Plan:
        if "deletionTimestamp" not in self.set["metadata"] and self.settle():
            strategy = self.set["spec"].get("updateStrategy", {})
            if strategy.get("type") != "OnDelete":
                self.roll(strategy.get("rollingUpdate") or {})
        return Plan(self.status(), self.steps)

    def do(self, verb: str, pod: Object) -> None:
        self.steps.append(Step(verb, pod))

    def is_available(self, pod: Object) -> bool:
        return is_available(pod, self.min_ready_seconds, self.seen.now) and not is_being_deleted(pod)

    def nobody(self, number: int) -> Object:
        """Return what stands for the pod of a free place: no more than a name until one is made."""
        return {"metadata": {"name": identity.pod_name(self.set, number)}, "spec": {}}

    def in_turn(self) -> Iterator[Object]:
        """Yield the pods to be seen to: those in order wait for each other, others are made so many at a time."""
        if self.ordered:
            yield from (self.there.get(number) or self.nobody(number) for number in self.places)
            return
        yield from self.there.values()
        if len(self.there) == len(self.places):
            return
        for number in self.places:
            if self.created >= at_a_time(self.set):
                return
            if number not in self.there:
                yield self.nobody(number)

    def new_pod(self, number: int) -> Object:
        """Return the pod for a free ordinal: of the old revision below the partition, else of the new one."""
        spec = self.set["spec"]
        strategy = spec.get("updateStrategy", {})
        rolling = strategy.get("rollingUpdate")
        start = ordinals(self.set).start
        if rolling is not None:
            old = number < start + rolling.get("partition", 0)
        else:
            kept = self.set.get("status", {}).get("currentReplicas", 0)
            old = strategy.get("type") == "RollingUpdate" and number < start + kept
        revision = self.seen.current if old else self.seen.update
        name = revision["metadata"]["name"]
        return identity.new_pod(self.set, template_of(revision), name, number, self.seen.reference)

    # -- every place filled, nobody beyond ---------------------------------------------------------------

    def settle(self) -> bool:
        """Fill ordinals and empty those beyond; return False if the set must settle before it can be updated."""
        for pod in self.in_turn():
            if self.fill(pod) and self.ordered:
                return False
        for pod in self.condemned:
            if self.has_wrong_owners(pod):
                self.do("claims", pod)
        everybody = [*self.there.values(), *reversed(self.condemned)]
        first_sick = next((pod for pod in everybody if not self.is_available(pod)), None)
        if len(self.there) < len(self.places):
            first_sick = None  # it is one that is missing
        return not any(self.empty(pod, first_sick) and self.ordered for pod in self.condemned)

    def fill(self, pod: Object) -> bool:
        """Fill one ordinal; return True if those after it must wait."""
        if is_terminal(pod):
            if not is_being_deleted(pod):
                self.do("delete", pod)
            return True
        if not phase(pod):
            if retention.is_waiting(self.set, pod, self.seen.claim):
                return True
            self.do("create", self.new_pod(ordinal(pod)))
            self.created += 1
            return True
        if phase(pod) == "Pending":
            self.do("claims", pod)
        if self.ordered and (is_being_deleted(pod) or phase(pod) != "Running" or not self.is_available(pod)):
            return True
        if not identity.is_itself(self.set, pod):
            self.do("update", pod)
        elif self.has_wrong_owners(pod):
            self.do("claims", pod)
        return False

    def has_wrong_owners(self, pod: Object) -> bool:
        claims = retention.claims(self.set, pod, self.seen.claim)
        return any(retention.owners(claim, self.set, pod) is not None for claim in claims)

    def empty(self, pod: Object, first_sick: Object | None) -> bool:
        """Delete a pod beyond the last ordinal; return True if those before it must wait."""
        if is_being_deleted(pod):
            return True
        if self.ordered and pod is not first_sick and not self.is_available(pod):
            return True
        self.do("delete", pod)
        return True

    # -- the new revision --------------------------------------------------------------------------------

    def roll(self, rolling: Object) -> None:
        """Delete pods of the old revision from the last ordinal down, as many as may be unavailable."""
        first = self.places.start + rolling.get("partition", 0)
        allowed = max(1, scaled(rolling.get("maxUnavailable", 1), len(self.places), up=False))
        missing = len(self.places) - sum(map(self.is_available, self.there.values()))
        budget = max(0, allowed - missing)
        candidates = [
            pod
            for number, pod in reversed(self.there.items())
            if number >= first and revision_of(pod) != self.update and not is_being_deleted(pod)
        ]
        if self.ordered:
            chosen = candidates[:budget]
        else:
            # Pods that are missing anyhow cost nothing.
            free = [pod for pod in candidates if not self.is_available(pod)]
            paid = [pod for pod in candidates if self.is_available(pod)]
            chosen = free + paid[:budget]
        for pod in chosen:
            if phase(pod):
                self.do("delete", pod)
                self.deleted_for_update += 1

    # -- the status --------------------------------------------------------------------------------------

    def status(self) -> Object:
        seen, wanted = self.seen, self.set["spec"].get("replicas", 1)
        current = seen.current["metadata"]["name"]
        there = [pod for pod in seen.pods if phase(pod)]
        ready = [pod for pod in there if phase(pod) == "Running" and is_ready(pod)]
        stable = [revision_of(pod) for pod in there if not is_being_deleted(pod)]
        updated = stable.count(self.update)
        kept = max(0, stable.count(current) - self.deleted_for_update)
        if updated == len(ready) == len(there) == wanted:
            current, kept = self.update, updated
        status: Object = {
            "observedGeneration": self.set["metadata"].get("generation", 0),
            "replicas": len(there),
            "readyReplicas": len(ready),
            "currentReplicas": kept,
            "updatedReplicas": updated,
            "currentRevision": current,
            "updateRevision": self.update,
            "collisionCount": seen.collisions,
            "availableReplicas": sum(is_available(pod, self.min_ready_seconds, seen.now) for pod in ready),
            "conditions": self.set.get("status", {}).get("conditions") or [],
        }
        always = ("replicas", "availableReplicas", "collisionCount")
        return {name: value for name, value in status.items() if value or name in always}
