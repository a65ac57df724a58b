"""Brings snapshot, listers and queue up to date with what happens in the cluster."""

from __future__ import annotations

from collections.abc import Container
from functools import partial

from pybernetes.api.resource import Object
from pybernetes.control_plane.scheduler.informers import SchedulerInformers
from pybernetes.control_plane.scheduler.queue import Queue
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, NODE, Action, Event, node_actions, pod_actions
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nominations import Nominations
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.snapshot import Snapshot


class EventHandlers:
    """Handlers of changes. An assumed pod has been given a node and is not yet seen to be bound."""

    def __init__(
        self,
        snapshot: Snapshot,
        listers: Listers,
        nominations: Nominations,
        queue: Queue,
        assumed: dict[str, Pod],
        schedulers: Container[str],
    ) -> None:
        self.snapshot, self.listers, self.nominations, self.queue = snapshot, listers, nominations, queue
        self.assumed = assumed
        self._schedulers = schedulers

    def listen(self, informers: SchedulerInformers) -> None:
        """Register the handlers with the informers."""
        informers.nodes.add_handler(self.on_node)
        for plural, (informer, resource) in informers.looked_up.items():
            informer.add_handler(partial(self.on_object, plural, resource))
        informers.pods.add_handler(self.on_pod)

    # -- nodes and other objects -------------------------------------------------------------------------

    def on_node(self, old: Object | None, new: Object | None) -> None:
        """Handle a node that came, changed or went."""
        if new is None:
            assert old is not None
            node = old["node"]
            self.queue.move(Event(NODE, Action.DELETE, node))
            self.nominations.drop_node(node.name)
            self.snapshot.remove_node(node.name)
            return
        node = new["node"]
        before = self.snapshot.set_node(node)
        if before is None:
            self.queue.move(Event(NODE, Action.ADD, None, node))
            return
        for action in node_actions(before, node):
            self.queue.move(Event(NODE, action, before, node))

    def on_object(self, plural: str, resource: str, old: Object | None, new: Object | None) -> None:
        """Handle an object that plugins look up and that came, changed or went."""
        obj = new if new is not None else old
        assert obj is not None
        meta = obj["metadata"]
        key = f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else meta["name"]
        self.listers.set(plural, key, new)
        if resource:
            action = Action.ADD if old is None else Action.DELETE if new is None else Action.UPDATE_OTHER
            self.queue.move(Event(resource, action, old, new))

    # -- pods --------------------------------------------------------------------------------------------

    def on_pod(self, old: Object | None, new: Object | None) -> None:
        """Handle a pod that came, changed or went."""
        before: Pod | None = old["pod"] if old is not None else None
        after: Pod | None = new["pod"] if new is not None else None
        if before is not None and after is not None and before.uid != after.uid:
            self._gone(before)  # another pod of the same name
            before = None
        if after is None:
            assert before is not None
            self._gone(before)
        elif after.node:
            self._assigned(before, after)
        elif after.shape.scheduler in self._schedulers:
            self._pending(before, after)

    def _assigned(self, before: Pod | None, after: Pod) -> None:
        assumed = self.assumed.pop(after.uid, None)
        there = assumed or (before if before is not None and before.node else None)
        if there is None:
            self.snapshot.add_pod(after)
        else:
            self.snapshot.replace_pod(there, after)
        if before is not None and before.node:
            for action in pod_actions(before, after):
                self.queue.move(Event(ASSIGNED_POD, action, before, after))
            return
        self.queue.delete(after.uid)
        self.nominations.remove(after.uid)
        self.queue.move(Event(ASSIGNED_POD, Action.ADD, None, after))

    def _pending(self, before: Pod | None, after: Pod) -> None:
        assumed = self.assumed.get(after.uid)
        if assumed is not None:
            if after.deleting:
                self._forget(assumed)
            return
        if before is None:
            self.queue.add(after)
            if after.nominated:
                self.nominations.add(after, after.nominated)
            return
        self.queue.update(after)
        if before.nominated != after.nominated or self.nominations.node_of(after.uid):
            self._renominate(before, after)

    def _renominate(self, before: Pod, after: Pod) -> None:
        # A nomination of ours that is not written yet must not be lost to an update that does not know of it.
        unwritten = not before.nominated and not after.nominated
        self.nominations.add(after, self.nominations.node_of(after.uid) if unwritten else after.nominated)
        if before.nominated and before.nominated != after.nominated:
            self._freed(before)

    def _gone(self, pod: Pod) -> None:
        assumed = self.assumed.get(pod.uid)
        if assumed is not None:
            self._forget(assumed)
        elif pod.node:
            self.snapshot.remove_pod(self.snapshot.pods[self.snapshot.rows[pod.node]][pod.uid])
            self.queue.move(Event(ASSIGNED_POD, Action.DELETE, pod))
        self.queue.delete(pod.uid)
        self.nominations.remove(pod.uid)
        if not pod.node and pod.nominated:
            self._freed(pod)

    def _forget(self, assumed: Pod) -> None:
        """Forget an assumed pod that is no more: its place is free again."""
        del self.assumed[assumed.uid]
        self.snapshot.remove_pod(assumed)
        self.queue.move(Event(ASSIGNED_POD, Action.DELETE, assumed))

    def _freed(self, pod: Pod) -> None:
        """Wake pods of no higher priority: the place that was kept for a pod is free."""
        placed = pod.placed(pod.nominated)
        self.queue.move(
            Event(ASSIGNED_POD, Action.DELETE, placed), lambda other: other.priority <= pod.priority
        )
