"""Spreads the replicas of federated workloads over clusters, as ReplicaSchedulingPreferences say."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.control_plane.federation import overrides, placement, planner
from pybernetes.control_plane.federation.controllers.sync_controller import SyncController
from pybernetes.control_plane.federation.controllers.type_config_controller import TypeConfigController
from pybernetes.control_plane.federation.kinds import REPLICA_SCHEDULING_PREFERENCES
from pybernetes.control_plane.federation.members.member import Member
from pybernetes.control_plane.federation.members.members import Members
from pybernetes.control_plane.federation.planner import Question
from pybernetes.control_plane.federation.pod_analysis import Analysis, analyse
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.runtime.cache import key_of, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

TARGETS = ("FederatedDeployment", "FederatedReplicaSet")
_REPLICAS = "/spec/replicas"
_ANSWER_SECONDS = 5.0
_PAGE, _PAGES = 500, 40  # pods that are looked at
_MOST_REPLICAS = 2**31 - 1


class Look(NamedTuple):
    """What one cluster runs of a workload, what fits at most if that is known, and when to look again."""

    current: int
    capacity: int | None = None
    recheck: float | None = None


class PreferenceController(Controller):
    """The loop over ReplicaSchedulingPreferences; each is for the federated workload of its own name."""

    name = "replicaschedulingpreference"
    kind = REPLICA_SCHEDULING_PREFERENCES
    unschedulable_seconds = 60.0  # for which a pod has no room before it counts as one that does not fit

    def __init__(
        self, runtime: Runtime, members: Members, types: TypeConfigController, one_namespace: bool
    ) -> None:
        super().__init__(runtime)
        self._members, self._types, self._one_namespace = members, types, one_namespace
        self._events = runtime.recorder("replicaschedulingpreference-controller")
        members.listen(lambda name: self._look_again())
        types.listeners.append(self._type_changed)

    def _type_changed(self, config: TypeConfig, controller: SyncController | None) -> None:
        if config.federated.kind not in TARGETS or controller is None:
            return
        controller.followers.append(self._workload_changed)
        controller.cache(config.federated).add_handler(
            lambda old, new: self._workload_changed(key_of(new or old))  # type: ignore[arg-type]
        )

    def _workload_changed(self, key: str) -> None:
        if key in self.objects:
            self.enqueue(key)

    def _look_again(self) -> None:
        for preference in self.objects:
            self.enqueue(key_of(preference))

    async def reconcile(self, key: str) -> float | None:
        """Spread the replicas of one workload."""
        preference = self.objects.get(key)
        if preference is None:
            return None
        spec = preference["spec"]
        if spec["targetKind"] not in TARGETS:
            self._events.warning(
                preference,
                "InvalidTargetKind",
                f"spec.targetKind: {spec['targetKind']!r} is none of {', '.join(TARGETS)}",
            )
            return None
        sync = self._types.running(spec["targetKind"])
        obj = sync.objects.get(key) if sync is not None else None
        if sync is None or obj is None or "deletionTimestamp" in obj["metadata"]:
            return None
        ready = {
            member.name: member for member in self._members if member.ready and member.client is not None
        }
        if spec.get("intersectWithClusterSelector"):
            namespace = self._types.find_namespace(split_key(key)[0])
            chosen = placement.of_namespaced(
                obj, namespace, self._members.labels(), one_namespace=self._one_namespace, selector_only=True
            )
            ready = {name: member for name, member in ready.items() if name in chosen}
        if not ready:
            return None
        looks = dict(
            zip(
                ready,
                await asyncio.gather(*(self._look(sync, member, key) for member in ready.values())),
                strict=True,
            )
        )
        distribution = planner.plan(
            Question(
                spec["totalReplicas"], planner.preferences_of(spec), sorted(ready), bool(spec.get("rebalance")),
                {name: look.current for name, look in looks.items()},
                {name: look.capacity for name, look in looks.items() if look.capacity is not None},
                key,
            )
        )  # fmt: skip
        await self._write(sync.config, obj, distribution.wanted())
        return min((look.recheck for look in looks.values() if look.recheck is not None), default=None)

    async def _look(self, sync: SyncController, member: Member, key: str) -> Look:
        """Return what a cluster has; one that does not answer, or not with pods, has what its workload says."""
        cache = member.cache(sync.watched)
        current = cache.get(key) if cache is not None else None
        if current is None or member.client is None:
            return Look(0)
        spec, status = current.get("spec") or {}, current.get("status") or {}
        replicas, ready = _count(spec, "replicas"), _count(status, "readyReplicas")
        if replicas == ready:
            return Look(ready)
        try:
            selector = str(selectors.from_object(spec.get("selector")))
            async with asyncio.timeout(_ANSWER_SECONDS):
                analysis = await self._analyse(member.client, split_key(key)[0], selector)
        except (StatusError, OSError, TimeoutError, ValueError, TypeError, KeyError, AttributeError):
            return Look(ready)
        capacity = max(0, replicas - analysis.unschedulable) if analysis.unschedulable else None
        return Look(analysis.ready, capacity, analysis.recheck)

    async def _analyse(self, client: Client, namespace: str, selector: str) -> Analysis:
        """Return what pods tell, some of them at a time: a member may have any number."""
        analysis, token = Analysis(0, 0, None), ""
        for _ in range(_PAGES):
            page = await client.list_page(PODS, namespace, labels=selector, limit=_PAGE, continue_token=token)
            analysis += analyse(page.items, self.clock.now(), self.unschedulable_seconds)
            token = page.continue_token
            if not token:
                break
        return analysis

    async def _write(self, config: TypeConfig, obj: Object, wanted: dict[str, int]) -> None:
        """Place a workload in the clusters of a plan, with as many replicas as it says."""
        meta, spec = obj["metadata"], obj.get("spec") or {}
        clusters = [{"name": name} for name in sorted(wanted)]
        try:
            changed = overrides.replace_value(obj, _REPLICAS, wanted)
        except ValueError:  # the sync controller says so
            return
        before = (spec.get("placement") or {}).get("clusters"), spec.get("overrides")
        if before == (clusters, changed):
            return
        patch = {
            "metadata": {"resourceVersion": meta["resourceVersion"]},
            "spec": {"placement": {"clusters": clusters}, "overrides": changed},
        }
        await self.client.patch(config.federated, meta["name"], patch, meta["namespace"])


def _count(fields: object, name: str) -> int:
    """Return a number of replicas that a member names; whatever else it names is none."""
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if type(value) is int and 0 <= value <= _MOST_REPLICAS else 0
