"""Disruption: says in the status of every PodDisruptionBudget how many of its pods may be evicted now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.api.text.printed_selector import printed
from pybernetes.client.errors import Conflict, NotFound, StatusError
from pybernetes.client.refs import (
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    Ref,
)
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import is_ready, is_terminal
from pybernetes.control_plane.controllers._workload.ownership import Selectors, anchors, by_selector
from pybernetes.control_plane.controllers._workload.templates import scaled
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag
from pybernetes.runtime.cache import by_labels, key_of, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.owned_objects import controller_of
from pybernetes.runtime.runtime import Runtime

# How long an evicted pod may take until it is seen to be going, and how long one may say that it is about to.
_DELETION_SECONDS = 120.0
_POD = "pod "  # how keys of pods begin
_KINDS = {
    ("", "ReplicationController"): REPLICATION_CONTROLLERS,
    ("apps", "ReplicaSet"): REPLICA_SETS,
    ("apps", "StatefulSet"): STATEFUL_SETS,
}


class Unknown(Exception):
    """The number of pods that should be there cannot be found out."""


class Counts(NamedTuple):
    """The numbers of a status."""

    healthy: int
    desired: int
    expected: int

    @property
    def allowed(self) -> int:
        """How many pods may be away; none as long as there are none, so that the first are safe."""
        return max(0, self.healthy - self.desired) if self.expected > 0 else 0


def needs_scale(budget: Object) -> bool:
    """Return whether the budget is about how many pods there should be, not only about how many there are."""
    spec = budget["spec"]
    return spec.get("maxUnavailable") is not None or isinstance(spec.get("minAvailable"), str)


def desired_healthy(budget: Object, expected: int) -> int:
    """Return how many pods have to stay healthy."""
    spec = budget["spec"]
    if spec.get("maxUnavailable") is not None:
        return max(0, expected - scaled(spec["maxUnavailable"], expected, up=True))
    if spec.get("minAvailable") is not None:
        return scaled(spec["minAvailable"], expected, up=True)
    return 0


def disrupted(
    budget: Object, pods: Iterable[Object], now: float
) -> tuple[dict[str, str], list[Object], float]:
    """Return the pods whose eviction is still awaited, those that did not go, and when to check again."""
    known = budget.get("status", {}).get("disruptedPods") or {}
    kept: dict[str, str] = {}
    late: list[Object] = []
    again = 0.0
    for pod in pods if known else ():
        name = pod["metadata"]["name"]
        if is_being_deleted(pod) or name not in known:
            continue
        left = rfc3339.parse(known[name]) + _DELETION_SECONDS - now
        if left < 0:
            late.append(pod)
        else:
            kept[name] = known[name]
            again = min(again or left, left)
    return kept, late, again


def healthy(pods: Iterable[Object], expected_to_go: Iterable[str]) -> int:
    """Return how many pods are ready and to stay."""
    return sum(
        is_ready(pod) and not is_being_deleted(pod) and pod["metadata"]["name"] not in expected_to_go
        for pod in pods
    )


def status(
    budget: Object, counts: Counts, disrupted_pods: dict[str, str], now: str, failure: str = ""
) -> Object:
    """Return the status of a budget; with a failure no disruption is allowed and the numbers stay."""
    old = budget.get("status", {})
    generation = budget["metadata"].get("generation", 0)
    new: Object = {
        "currentHealthy": counts.healthy,
        "desiredHealthy": counts.desired,
        "expectedPods": counts.expected,
        "disruptionsAllowed": counts.allowed,
        "observedGeneration": generation,
    }
    if disrupted_pods:
        new["disruptedPods"] = disrupted_pods
    if failure:
        new = {**old, "disruptionsAllowed": 0}
    allowed = new["disruptionsAllowed"] > 0
    reason = "SyncFailed" if failure else "SufficientPods" if allowed else "InsufficientPods"
    wanted = {
        "type": "DisruptionAllowed", "status": "True" if allowed else "False", "reason": reason, "message": failure,
        "lastTransitionTime": now, "observedGeneration": new.get("observedGeneration", 0),
    }  # fmt: skip
    if not wanted["observedGeneration"]:
        del wanted["observedGeneration"]
    known = condition_of(budget, "DisruptionAllowed")
    if known is not None and known["status"] == wanted["status"]:
        wanted["lastTransitionTime"] = known["lastTransitionTime"]
    others = [other for other in old.get("conditions") or () if other["type"] != "DisruptionAllowed"]
    new["conditions"] = [*others, wanted]
    return new


def _selector_of(budget: Object) -> selectors.Selector:
    return selectors.from_object(budget["spec"].get("selector"))


class DisruptionController(Controller):
    """Works on keys of budgets, and on pods whose disruption never came."""

    name = "disruption-controller"
    kind = POD_DISRUPTION_BUDGETS
    indexes = {POD_DISRUPTION_BUDGETS: (by_selector,), PODS: (by_labels,)}

    def __init__(self, runtime: Runtime, workers: int = 1) -> None:
        super().__init__(runtime)
        self.workers = workers
        self._selectors = Selectors(self.cache(POD_DISRUPTION_BUDGETS), _selector_of)
        self._recorder = runtime.recorder("controllermanager")
        for kind in (REPLICATION_CONTROLLERS, REPLICA_SETS, DEPLOYMENTS, STATEFUL_SETS):
            self.cache(kind)
        self.cache(PODS).add_handler(self._pod_changed)

    # -- changes become keys -----------------------------------------------------------------------------

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None and new is not None and _facts(old) == _facts(new):
            return
        for pod in (old, new):
            if pod is not None and len(self.objects):
                for key in self._budgets_of(pod):
                    self.enqueue(key)
        if new is not None and (left := stale_in(new, self.clock.now())) is not None:
            self.enqueue(_POD + key_of(new), left)

    def _budgets_of(self, pod: Object) -> list[str]:
        labels = pod["metadata"].get("labels")
        return [
            key_of(budget)
            for anchor in anchors(pod)
            for budget in self.objects.find(by_selector, anchor)
            if self._selectors.of(budget).matches(labels)
        ]

    # -- one budget --------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> float | None:
        """Bring the status of a budget up to date."""
        if key.startswith(_POD):
            return await self._clear(key.removeprefix(_POD))
        budget = self.objects.get(key)
        if budget is None:
            return None
        selector = self._selectors.of(budget)
        pods = self.cache(PODS).select(selector, budget["metadata"]["namespace"])
        if not pods:
            self._recorder.normal(budget, "NoPods", "No matching pods found")
        now = self.clock.now()
        moment = rfc3339.seconds(now)
        try:
            expected = await self._expected(budget, pods) if needs_scale(budget) else len(pods)
        except (Unknown, StatusError) as error:
            text = f"Failed to calculate the number of expected pods: {error}"
            self._recorder.warning(budget, "CalculateExpectedPodCountFailed", text)
            await self._write(budget, status(budget, Counts(0, 0, 0), {}, moment, failure=str(error)))
            return None
        kept, late, again = disrupted(budget, pods, now)
        for pod in late:
            text = f"Pod was expected by PDB {key} to be deleted but it wasn't"
            self._recorder.warning(pod, "NotDeleted", text)
        counts = Counts(healthy(pods, kept), desired_healthy(budget, expected), expected)
        await self._write(budget, status(budget, counts, kept, moment))
        return again or None

    async def _write(self, budget: Object, wanted: Object) -> None:
        if wanted == budget.get("status"):
            return
        try:
            await self.client.update_status(POD_DISRUPTION_BUDGETS, {**budget, "status": wanted})
        except NotFound:
            pass

    async def _expected(self, budget: Object, pods: list[Object]) -> int:
        """Return the sum of the replicas that the controllers of the pods want."""
        scales: dict[str, int] = {}
        unmanaged = False
        for pod in pods:
            reference = controller_of(pod)
            if reference is None:
                unmanaged = True
            elif reference["uid"] not in scales:
                uid, replicas = await self._scale(reference, pod)
                scales[uid] = replicas
        if unmanaged:
            selector = printed(budget["spec"].get("selector") or {})
            text = (
                f"Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be "
                "unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in "
                'undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB '
                "to an integer value."
            )
            self._recorder.warning(budget, "UnmanagedPods", text)
        return sum(scales.values())

    async def _scale(self, reference: Object, pod: Object) -> tuple[str, int]:
        """Return the uid and the scale of what manages a pod: a Deployment in place of its ReplicaSet."""
        namespace = pod["metadata"]["namespace"]
        owner = self._cached(_KINDS, reference, namespace)
        if owner is not None:
            above = controller_of(owner)
            if above is None or above["kind"] != "Deployment":
                return owner["metadata"]["uid"], owner["spec"].get("replicas", 1)
            deployment = self._cached({("apps", "Deployment"): DEPLOYMENTS}, above, namespace)
            if deployment is not None:
                return deployment["metadata"]["uid"], deployment["spec"].get("replicas", 1)
        ref = await self.client.ref(reference["apiVersion"], reference["kind"])
        try:
            scale = await self.client.get(ref, reference["name"], namespace, subresource="scale")
        except NotFound as error:
            if "could not find the requested resource" in error.message:
                raise Unknown(f"{ref} does not implement the scale subresource") from None
            raise Unknown(f'found no controllers for pod "{pod["metadata"]["name"]}"') from None
        if scale["metadata"].get("uid") != reference["uid"]:
            raise Unknown(f'found no controllers for pod "{pod["metadata"]["name"]}"')
        return reference["uid"], scale["spec"].get("replicas", 0)

    def _cached(self, kinds: dict[tuple[str, str], Ref], reference: Object, namespace: str) -> Object | None:
        kind = kinds.get((reference["apiVersion"].rpartition("/")[0], reference["kind"]))
        cached = self.cache(kind).get(f"{namespace}/{reference['name']}") if kind is not None else None
        return cached if cached is not None and cached["metadata"]["uid"] == reference["uid"] else None

    # -- pods that were to be disrupted ------------------------------------------------------------------

    async def _clear(self, key: str) -> float | None:
        """Remove a stale DisruptionTarget condition from a pod."""
        pod = self.cache(PODS).get(key)
        left = stale_in(pod, self.clock.now()) if pod is not None else None
        if pod is None or left is None or left > 0:
            return left
        namespace, name = split_key(key)
        cleared = {
            "type": "DisruptionTarget",
            "status": "False",
            "lastTransitionTime": rfc3339.seconds(self.clock.now()),
            "reason": None,
            "message": None,
        }
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {"conditions": [cleared]}}
        try:
            await self.client.patch_status(PODS, name, patch, namespace)
        except (NotFound, Conflict):
            pass
        return None


def stale_in(pod: Object, now: float) -> float | None:
    """Return in how many seconds a DisruptionTarget condition is stale, or None if there is none."""
    target = condition_of(pod, "DisruptionTarget")
    if (
        target is None
        or target["status"] != "True"
        or target.get("reason") == "TerminationByKubelet"
        or is_being_deleted(pod)
        or is_terminal(pod)
    ):
        return None
    since = target.get("lastTransitionTime")
    return max(0.0, rfc3339.parse(since) + _DELETION_SECONDS - now) if since else 0.0


def _facts(pod: Object) -> tuple[object, ...]:
    """Return what matters of a pod to budgets."""
    meta = pod["metadata"]
    target = condition_of(pod, "DisruptionTarget")
    return (
        meta.get("labels"),
        meta.get("ownerReferences"),
        is_being_deleted(pod),
        is_ready(pod),
        is_terminal(pod),
        target,
    )


CONTROLLER = Descriptor(
    name=DisruptionController.name,
    aliases=("disruption",),
    identity="disruption-controller",
    flags=(Flag("concurrent-disruption-syncs", 1, "how many budgets are worked on at a time"),),
    build=lambda runtime, options: DisruptionController(runtime, options.concurrent_disruption_syncs),
)
