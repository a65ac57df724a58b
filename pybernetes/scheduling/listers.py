"""Objects that plugins look up besides pods and nodes: namespaces, services, owners, volumes and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.api.selectors import Selector
from pybernetes.scheduling.pods import Labels, Pod, Shape

_OWNERS = {
    ("v1", "ReplicationController"): "replicationcontrollers",
    ("apps/v1", "ReplicaSet"): "replicasets",
    ("apps/v1", "StatefulSet"): "statefulsets",
}


class Listers:
    """Objects by kind (the plural) and by key (``namespace/name`` or the name)."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Object]] = {}
        self._versions: dict[str, int] = {}
        self.changes = 0  # how often anything changed
        self._assumed: dict[tuple[str, str], Object] = {}
        self._selectors: WeakKeyDictionary[Shape, tuple[int, Selector]] = WeakKeyDictionary()
        self._services: dict[str, dict[str, Selector]] = {}  # by namespace, then by name
        self._listeners: dict[str, list[Callable[[], None]]] = {}

    def set(self, kind: str, key: str, obj: Object | None) -> Object | None:
        """Store an object, or remove it (None); return the previous one."""
        objects = self._objects.setdefault(kind, {})
        self._versions[kind] = self._versions.get(kind, 0) + 1
        self.changes += 1
        before = objects.get(key)
        if obj is None:
            objects.pop(key, None)
        else:
            objects[key] = obj
        if kind == "services":
            self._set_service(key, obj)
        for listener in self._listeners.get(kind, ()):
            listener()
        return before

    def listen(self, kind: str, listener: Callable[[], None]) -> None:
        """Call a function after every change of an object of a kind."""
        self._listeners.setdefault(kind, []).append(listener)

    def get(self, kind: str, key: str) -> Object | None:
        """Return an object, or None."""
        return self._objects.get(kind, {}).get(key)

    # -- what decisions under way are about to change ----------------------------------------------------

    def current(self, kind: str, key: str) -> Object | None:
        """Return an object as it is assumed to be, or the server's if that is newer than the assumption."""
        actual = self.get(kind, key)
        assumed = self._assumed.get((kind, key)) if self._assumed else None
        if assumed is None:
            return actual
        if actual is not None and _version(actual) == _version(assumed):
            return assumed
        del self._assumed[kind, key]
        return actual

    def assume(self, kind: str, key: str, obj: Object) -> None:
        """Assume that an object looks like this; it carries the version of the object that it will replace."""
        self._assumed[kind, key] = obj

    def revert(self, kind: str, key: str) -> None:
        """Drop an assumption."""
        self._assumed.pop((kind, key), None)

    def all(self, kind: str) -> list[Object]:
        """Return every object of a kind."""
        return list(self._objects.get(kind, {}).values())

    def version(self, kind: str) -> int:
        """Return a number that changes when any object of a kind does."""
        return self._versions.get(kind, 0)

    # -- namespaces --------------------------------------------------------------------------------------

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of a namespace; none if it is not known."""
        namespace = self.get("namespaces", name)
        return {} if namespace is None else namespace["metadata"].get("labels") or {}

    def namespaces(self, selector: Selector) -> frozenset[str]:
        """Return the namespaces whose labels match."""
        return frozenset(
            name
            for name, obj in self._objects.get("namespaces", {}).items()
            if selector.matches(obj["metadata"].get("labels"))
        )

    # -- whom a pod belongs to ---------------------------------------------------------------------------

    def _set_service(self, key: str, obj: Object | None) -> None:
        namespace, _, name = key.partition("/")
        wanted = None if obj is None else (obj.get("spec") or {}).get("selector")
        if wanted:
            self._services.setdefault(namespace, {})[name] = selectors.from_map(wanted)
        else:
            known = self._services.get(namespace, {})
            known.pop(name, None)
            if not known:
                self._services.pop(namespace, None)

    def default_selector(self, pod: Pod) -> Selector:
        """Return what the services and the controller of a pod select; empty if it has neither."""
        moment = sum(map(self.version, ("services", *_OWNERS.values())))
        known = self._selectors.get(pod.shape)
        if known is None or known[0] != moment:
            known = self._selectors[pod.shape] = (moment, self._default_selector(pod.shape))
        return known[1]

    def _default_selector(self, shape: Shape) -> Selector:
        merged: dict[str, str] = {}
        for selector in self._matching_services(shape.labels):
            merged.update({requirement.key: requirement.values[0] for requirement in selector.requirements})
        owner = shape.owner
        kind = _OWNERS.get((owner.api_version, owner.kind)) if owner is not None else None
        controller = None
        if owner is not None and kind is not None:
            controller = self.get(kind, f"{shape.labels.namespace}/{owner.name}")
        spec = (controller or {}).get("spec") or {}
        if kind == "replicationcontrollers":
            merged.update(spec.get("selector") or {})
            return selectors.from_map(merged)
        more = selectors.from_object(spec.get("selector")) if spec else selectors.EVERYTHING
        return Selector(selectors.from_map(merged).requirements + more.requirements)

    def _matching_services(self, labels: Labels) -> list[Selector]:
        return [
            selector
            for selector in self._services.get(labels.namespace, {}).values()
            if selector.matches(labels.labels)
        ]


def _version(obj: Object) -> str:
    return obj["metadata"].get("resourceVersion", "")
