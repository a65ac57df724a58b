"""Removes nodes: closes them, moves their pods, and gives the machines back."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import Conflict, NotFound, StatusError
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.control_plane.autoscaler.cluster.groups import reference
from pybernetes.control_plane.autoscaler.cluster.pod_records import PodRecord
from pybernetes.control_plane.autoscaler.cluster.taint_rules import CANDIDATE, TO_BE_DELETED
from pybernetes.control_plane.autoscaler.provider import CloudError, CloudProvider
from pybernetes.control_plane.autoscaler.scale_down.scale_down import Removable
from pybernetes.lib.clock import Clock
from pybernetes.runtime.events import Recorder

log = logging.getLogger(__name__)
# By annotations that begin so, others keep a node that is to go, such as until its volumes are taken off.
DELAY_DELETION = "delay-deletion.cluster-autoscaler.kubernetes.io/"
_RETRY_SECONDS = 1.0
_TRIES = 5


class Settings(NamedTuple):
    """What the flags say."""

    delay_after_taint: float = 5.0
    cordons: bool = True
    most_grace: float = 600.0
    eviction_seconds: float = 120.0
    evicts_daemons_of_empty: bool = False
    evicts_daemons_of_occupied: bool = True
    most_soft_taints: int = 10
    soft_taint_seconds: float = 3.0
    most_delay: float = 120.0


class DrainError(Exception):
    """Not all pods could be moved; the text says which."""


@dataclass
class Going:
    """A node that is being removed."""

    removable: Removable
    task: asyncio.Task[None]


class Actuator:
    """The removals under way. ``done`` is told the name of each node and why it could not be removed, if so."""

    def __init__(
        self,
        client: Client,
        cloud: CloudProvider,
        cluster: Cluster,
        recorder: Recorder,
        settings: Settings,
        clock: Clock,
        done: Callable[[Removable, str], None],
        report: Callable[[str, str, str], None],
        evicted: Callable[[str], None] = lambda result: None,
    ) -> None:
        self._client, self._cloud, self._cluster, self._recorder = client, cloud, cluster, recorder
        self._settings, self._clock, self._done, self._report = settings, clock, done, report
        self._evicted = evicted
        self.going: dict[str, Going] = {}
        self._marked: set[str] = set()  # nodes that have the soft taint from us

    def by_group(self) -> Counter[str]:
        """Return how many nodes of each group are being removed, and still count in its size."""
        return Counter(going.removable.group for going in self.going.values())

    @property
    def draining(self) -> int:
        """How many nodes are being removed whose pods have to move."""
        return sum(1 for going in self.going.values() if not going.removable.empty)

    def start(self, removable: Removable) -> None:
        """Begin to remove a node."""
        name = removable.node
        if removable.empty:
            self._report("Normal", "ScaleDownEmpty", f'Scale-down: removing empty node "{name}"')
        else:
            pods = ",".join(record.pod.name for record in removable.moves)
            text = f"Scale-down: removing node {name}, utilization: {removable.utilization:g}, pods to reschedule: {pods}"
            self._report("Normal", "ScaleDown", text)
        self.going[name] = Going(
            removable, asyncio.create_task(self._remove(removable), name=f"remove {name}")
        )

    async def close(self) -> None:
        """Stop what is under way."""
        for going in self.going.values():
            going.task.cancel()
        await asyncio.gather(*(going.task for going in self.going.values()), return_exceptions=True)

    async def _remove(self, removable: Removable) -> None:
        name, problem = removable.node, ""
        about = _node_object(name)
        try:
            await self._taint(name, TO_BE_DELETED, "NoSchedule", cordon=self._settings.cordons)
            self._recorder.normal(about, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
            await self._clock.sleep(self._settings.delay_after_taint)
            await self._drain(removable)
            await self._wait_for_others(name)
            node = self._cluster.nodes.get(name)
            if node is not None:
                await self._cloud.delete_nodes(removable.group, [reference(node)])
            self._recorder.normal(about, "ScaleDown", "nodes removed by cluster autoscaler")
            if removable.empty:
                self._report("Normal", "ScaleDownEmpty", f"Scale-down: empty node {name} removed")
            else:
                self._report("Normal", "ScaleDown", f"Scale-down: node {name} removed with drain")
        except (DrainError, CloudError, StatusError, OSError) as error:
            problem = str(error) or repr(error)
            self._recorder.warning(about, "ScaleDownFailed", _failure(error, problem))
            log.warning("the node %s cannot be removed: %s", name, problem)
            await self._untaint_quietly(name)
        finally:
            self.going.pop(name, None)
        self._done(removable, problem)

    # -- pods --------------------------------------------------------------------------------------------

    async def _drain(self, removable: Removable) -> None:
        """Move all pods of a node; those that came since it was chosen are looked at as well."""
        name, now = removable.node, self._clock.now()
        # What should be gone for long does not go before the node does: its kubelet is silent.
        records = [
            record
            for record in self._cluster.pods_on(name)
            if not record.daemon and not record.mirror and not record.overdue(now)
        ]
        known = {record.pod.uid for record in removable.moves}
        strangers = [
            record.pod.key for record in records if record.pod.uid not in known and not record.deleted
        ]
        if strangers:
            raise DrainError(f"failed to delete node: a pod came since it was chosen: {strangers[0]}")
        evicts_daemons = (
            self._settings.evicts_daemons_of_empty
            if removable.empty
            else self._settings.evicts_daemons_of_occupied
        )
        daemons = [
            record
            for record in self._cluster.pods_on(name)
            if record.daemon and not record.mirror and not record.deleted
            and record.evicts_daemon != "false" and (evicts_daemons or record.evicts_daemon == "true")
        ]  # fmt: skip
        deadline = self._clock.monotonic() + self._settings.eviction_seconds
        problems = await asyncio.gather(*(self._evict(record, deadline) for record in records))
        failed = [problem for problem in problems if problem]
        if failed:
            raise DrainError(f"failed to drain the node, aborting: {failed[0]}")
        await asyncio.gather(*(self._evict(record, self._clock.monotonic()) for record in daemons))
        await self._wait_gone(records)

    async def _evict(self, record: PodRecord, deadline: float) -> str:
        """Evict a pod, again and again while budgets forbid it; return why it stays."""
        pod = record.pod
        grace = min(record.grace, int(self._settings.most_grace))
        body: Object = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": {"gracePeriodSeconds": grace, "preconditions": {"uid": pod.uid}},
        }
        about = {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        }
        self._recorder.normal(about, "ScaleDown", "deleting pod for node scale down")
        while True:
            try:
                await self._client.create(PODS, body, pod.namespace, name=pod.name, subresource="eviction")
                self._evicted("succeeded")
                return ""
            except (NotFound, Conflict):  # it has gone, or another has come in its place
                return ""
            except (StatusError, OSError) as error:
                if self._clock.monotonic() + _RETRY_SECONDS > deadline:
                    if not record.daemon:
                        self._recorder.warning(about, "ScaleDownFailed", "failed to delete pod for ScaleDown")
                    self._evicted("failed")
                    return f"Failed to evict pod {pod.key} within allowed timeout (last error: {error})"
            await self._clock.sleep(_RETRY_SECONDS)

    async def _wait_gone(self, records: list[PodRecord]) -> None:
        left = {record.pod.uid: record for record in records}
        grace = max((min(record.grace, self._settings.most_grace) for record in records), default=0.0)
        deadline = self._clock.monotonic() + grace + 30.0
        while left := {uid: record for uid, record in left.items() if uid in self._cluster.by_uid}:
            if self._clock.monotonic() > deadline:
                key = next(iter(left.values())).pod.key
                raise DrainError(f"Failed to drain node, pods remaining after timeout: {key}")
            await self._clock.sleep(0.1)

    async def _wait_for_others(self, name: str) -> None:
        """Wait until nobody wants to keep a node by an annotation, but not for ever."""
        deadline = self._clock.monotonic() + self._settings.most_delay
        while self._clock.monotonic() < deadline:
            node = self._cluster.nodes.get(name)
            if node is None or not any(key.startswith(DELAY_DELETION) for key in node.annotations):
                return
            await self._clock.sleep(0.1)

    # -- taints ------------------------------------------------------------------------------------------

    async def _taint(self, name: str, key: str, effect: str, cordon: bool = False) -> None:
        def change(node: Object) -> Object | None:
            spec = node.setdefault("spec", {})
            taints = [taint for taint in spec.get("taints") or () if taint.get("key") != key]
            spec["taints"] = [*taints, {"key": key, "value": str(int(self._clock.now())), "effect": effect}]
            if cordon:
                spec["unschedulable"] = True
            return node

        await self._change(name, change)

    async def untaint(self, name: str) -> None:
        """Take our taints off a node, and open it again if it was closed for its removal."""

        def change(node: Object) -> Object | None:
            spec = node.setdefault("spec", {})
            taints = spec.get("taints") or []
            kept = [taint for taint in taints if taint.get("key") not in (TO_BE_DELETED, CANDIDATE)]
            if len(kept) == len(taints):
                return None
            if any(taint.get("key") == TO_BE_DELETED for taint in taints) and self._settings.cordons:
                spec.pop("unschedulable", None)
                kept = [taint for taint in kept if taint.get("key") != "node.kubernetes.io/unschedulable"]
            spec["taints"] = kept
            return node

        await self._change(name, change)
        self._marked.discard(name)

    async def _untaint_quietly(self, name: str) -> None:
        try:
            await self.untaint(name)
        except NotFound:
            pass  # it is gone, as it was to be
        except (StatusError, OSError) as error:
            log.warning("the node %s keeps its taint: %s", name, error)

    async def _change(self, name: str, change: Callable[[Object], Object | None]) -> None:
        for attempt in range(_TRIES):
            node = await self._client.get(NODES, name)
            changed = change(node)
            if changed is None:
                return
            try:
                await self._client.update(NODES, changed)
                return
            except Conflict:
                if attempt == _TRIES - 1:
                    raise

    async def mark(self, unneeded: set[str]) -> None:
        """Ask the scheduler to spare nodes that are about to go, by a soft taint; and take it off others. A few at a time."""
        most = self._settings.most_soft_taints
        if not most:
            return
        nodes = self._cluster.nodes
        have = {
            name
            for name, node in nodes.items()
            if any(taint.get("key") == CANDIDATE for taint in node.taints)
        }
        off = [name for name in sorted(have - unneeded) if name not in self.going][:most]
        on = [name for name in sorted(unneeded - have) if name in nodes and name not in self.going]
        deadline = self._clock.monotonic() + self._settings.soft_taint_seconds
        for name in off:
            if self._clock.monotonic() > deadline:
                return
            await self._untaint_quietly(name)
        for name in on[: most - len(off)]:
            if self._clock.monotonic() > deadline:
                return
            try:
                await self._taint(name, CANDIDATE, "PreferNoSchedule")
            except (StatusError, OSError) as error:
                log.info("the node %s gets no soft taint: %s", name, error)


def _node_object(name: str) -> Object:
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": name}}


def _failure(error: Exception, problem: str) -> str:
    if isinstance(error, DrainError):
        return problem
    if isinstance(error, CloudError):
        return f"failed to delete node: {problem}"
    return f"failed to mark the node as toBeDeleted/unschedulable: {problem}"
