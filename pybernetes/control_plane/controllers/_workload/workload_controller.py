"""A controller that keeps pods: it finds, adopts, creates and deletes them, and reports that in events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from pybernetes.api.resource import Object
from pybernetes.api.selectors import NOTHING, Selector
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import NAMESPACES, PODS, Kindlike
from pybernetes.control_plane.controllers._objects.deletion import is_namespace_terminating, report_deletion
from pybernetes.control_plane.controllers._objects.pods import is_active
from pybernetes.control_plane.controllers._workload.ownership import (
    Selectors,
    anchors,
    by_selector,
    matcher,
    orphans,
)
from pybernetes.runtime import Controller, Runtime, by_controller, key_of
from pybernetes.runtime.cache import IndexFunction
from pybernetes.runtime.controller import Mapper
from pybernetes.runtime.owned_objects import claim


class WorkloadController(Controller):
    """What Deployments and the like have in common. A subclass adds its kind and ``reconcile``."""

    kind: ClassVar[Kindlike]
    component: ClassVar[str]  # as events name it
    children: ClassVar[Sequence[Kindlike]] = (PODS,)  # what is adopted
    finalizer: ClassVar[str] = ""  # what children hold while they are not accounted for

    def __init__(self, runtime: Runtime) -> None:
        self.recorder = runtime.recorder(self.component)
        super().__init__(runtime)
        self._namespaces = self.cache(NAMESPACES)
        self.cache(self.kind).add_index(self.selector_index())
        self._selectors = Selectors(self.cache(self.kind))
        for kind in self.children:
            self.cache(kind).add_index(by_controller)
            self.cache(kind).add_index(orphans)

    def watches(self) -> Mapping[Kindlike, Mapper]:
        """Map objects that nobody controls to the workloads that select them."""
        return {kind: self.suitors for kind in self.children}

    def suitors(self, obj: Object) -> Iterable[str]:
        """Return the keys of the workloads that would adopt an object."""
        if not self.objects or not orphans(obj):
            return ()
        labels, index = obj["metadata"].get("labels"), self.selector_index()
        return [
            key_of(workload)
            for anchor in anchors(obj)
            for workload in self.objects.find(index, anchor)
            if self.selector_of(workload).matches(labels)
        ]

    def selector_index(self) -> IndexFunction:
        """Return the index of workloads by their selector."""
        return by_selector

    def selector_of(self, obj: Object) -> Selector:
        """Return the selector of a workload."""
        return self._selectors.of(obj)

    async def claimed(
        self, owner: Object, kind: Kindlike = PODS, filter: Callable[[Object], bool] = is_active,
        member: Callable[[Object], bool] | None = None,
    ) -> list[Object]:  # fmt: skip
        """Return the owner's objects that pass a filter, after adopting and releasing what is due.

        ``member`` is asked besides the selector.
        """
        cache = self.cache(kind)
        selector = self.selector_of(owner)
        matches = matcher(selector)
        kept: list[Object] = []
        lost: list[Object] = []
        for obj in cache.find(by_controller, owner["metadata"]["uid"]):
            if filter(obj):
                fits = matches(obj["metadata"].get("labels")) and (member is None or member(obj))
                (kept if fits else lost).append(obj)
        finalizers = (self.finalizer,) if self.finalizer else ()
        if lost:
            await claim(self.client, owner, self.kind, NOTHING, kind, lost, finalizers)
        objects = [
            obj
            for obj in cache.find(orphans, owner["metadata"]["namespace"])
            if matches(obj["metadata"].get("labels")) and filter(obj) and (member is None or member(obj))
        ]
        if objects:
            kept += await claim(self.client, owner, self.kind, selector, kind, objects, finalizers)
        return kept

    async def create_pod(self, owner: Object, pod: Object) -> Object | None:
        """Create a pod and report it; return None if the namespace is being deleted."""
        namespace = self._namespaces.get(owner["metadata"]["namespace"])
        if namespace is not None and "deletionTimestamp" in namespace["metadata"]:
            return None
        try:
            made = await self.client.create(PODS, pod, owner["metadata"]["namespace"])
        except StatusError as error:
            if is_namespace_terminating(error):
                return None
            self.recorder.warning(owner, "FailedCreate", f"Error creating: {error}")
            raise
        self.recorder.normal(owner, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}")
        return made

    async def delete_pod(self, owner: Object, pod: Object) -> None:
        """Delete a pod and report it."""
        meta = pod["metadata"]
        deletion = self.client.delete(PODS, meta["name"], meta["namespace"], uid=meta["uid"])
        done = f"Deleted pod: {meta['name']}"
        await report_deletion(deletion, self.recorder, owner, failed="Error deleting", done=done)

    async def write_status(self, obj: Object, status: Object) -> Object:
        """Write a status if it differs; return the object as it is now, or was if it is gone."""
        if obj.get("status", {}) == status:
            return obj
        # Nothing else is read from what is sent, and most of an object is its template.
        meta = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
        try:
            return await self.client.update_status(self.kind, {"metadata": meta, "status": status})
        except NotFound:
            return obj


def counts(always: Mapping[str, int], **others: int) -> dict[str, int]:
    """Return the numbers of a status as Kubernetes writes them: some always, the others unless they are 0."""
    return {**always, **{name: value for name, value in others.items() if value}}
