"""Objects in memory, by key and by index. Nobody changes an object that is in a cache."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from pybernetes.api.resource import Object
from pybernetes.api.selectors import EVERYTHING, Selector

# The values under which an object is found: of an owner's uid, a node's name, …
IndexFunction = Callable[[Object], Iterable[str]]
Key = TypeVar("Key", bound=Hashable)


def key_of(obj: Object) -> str:
    """Return the key of an object: ``namespace/name``, or the name alone."""
    meta = obj["metadata"]
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else meta["name"]


def split_key(key: str) -> tuple[str, str]:
    """Return the namespace (empty if there is none) and the name of a key."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


def by_namespace(obj: Object) -> tuple[str, ...]:
    """Index objects by their namespace."""
    return (obj["metadata"].get("namespace", ""),)


def by_owner(obj: Object) -> Iterable[str]:
    """Index objects by the uid of every owner."""
    return [owner["uid"] for owner in obj["metadata"].get("ownerReferences") or ()]


def by_controller(obj: Object) -> tuple[str, ...]:
    """Index objects by the uid of the owner that controls them."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return (owner["uid"],)
    return ()


def by_labels(obj: Object) -> Iterable[str]:
    """Index objects by namespace and every label, which makes ``select`` fast."""
    meta = obj["metadata"]
    labels = meta.get("labels")
    if not labels:
        return ()
    namespace = meta.get("namespace", "")
    return [f"{namespace}/{name}={value}" for name, value in labels.items()]


class Index(Generic[Key]):
    """Keys by the values of an index function."""

    __slots__ = ("function", "keys")

    def __init__(self, function: IndexFunction) -> None:
        self.function = function
        self.keys: dict[str, dict[Key, None]] = {}

    def change(self, key: Key, old: Object | None, new: Object | None) -> None:
        """Record a change of an object."""
        before = tuple(self.function(old)) if old is not None else ()
        after = tuple(self.function(new)) if new is not None else ()
        if before == after:
            return
        for value in before:
            if value not in after:
                held = self.keys[value]
                held.pop(key, None)
                if not held:
                    del self.keys[value]
        for value in after:
            self.keys.setdefault(value, {})[key] = None


class Union:
    """An index over several caches: looking into each of hundreds would take long."""

    def __init__(self, function: IndexFunction) -> None:
        self._index: Index[tuple[Cache, str]] = Index(function)

    def change(self, cache: Cache, key: str, old: Object | None, new: Object | None) -> None:
        """Record a change in one of the caches."""
        self._index.change((cache, key), old, new)

    def find(self, value: str) -> list[tuple[Cache, Object]]:
        """Return the objects that have a value, each with its cache."""
        return [(cache, cache._objects[key]) for cache, key in self._index.keys.get(value, ())]


class Cache:
    """Objects of one kind. They are read-only: ``client.copy`` makes a copy that is not."""

    def __init__(self) -> None:
        self._objects: dict[str, Object] = {}
        self._indexes: dict[IndexFunction, Index[str]] = {}
        self._unions: list[Union] = []

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects.values())

    def __contains__(self, key: str) -> bool:
        return key in self._objects

    def get(self, key: str) -> Object | None:
        """Return the object of a key, or None."""
        return self._objects.get(key)

    def keys(self) -> Iterable[str]:
        """Return every key."""
        return self._objects.keys()

    def values(self) -> list[Object]:
        """Return every object."""
        return list(self._objects.values())

    def add_index(self, function: IndexFunction) -> None:
        """Index objects by the values of a function; adding the same one twice is fine."""
        if function not in self._indexes:
            index: Index[str] = Index(function)
            self._indexes[function] = index
            for key, obj in self._objects.items():
                index.change(key, None, obj)

    def join(self, union: Union) -> None:
        """Add the objects to an index over several caches."""
        self._unions.append(union)
        for key, obj in self._objects.items():
            union.change(self, key, None, obj)

    def leave(self, union: Union) -> None:
        """Remove all objects from an index over several caches."""
        self._unions.remove(union)
        for key, obj in self._objects.items():
            union.change(self, key, obj, None)

    def find(self, function: IndexFunction, value: str) -> list[Object]:
        """Return the objects that have a value in an index, which must have been added."""
        objects = self._objects
        return [objects[key] for key in self._indexes[function].keys.get(value, ())]

    def find_keys(self, function: IndexFunction, value: str) -> list[str]:
        """Return the keys of the objects that have a value in an index."""
        return list(self._indexes[function].keys.get(value, ()))

    def count(self, function: IndexFunction, value: str) -> int:
        """Return how many objects have a value in an index."""
        return len(self._indexes[function].keys.get(value, ()))

    def in_namespace(self, namespace: str) -> list[Object]:
        """Return the objects of a namespace, with the index ``by_namespace``; all objects for the empty one."""
        return self.find(by_namespace, namespace) if namespace else self.values()

    def select(self, selector: Selector = EVERYTHING, namespace: str = "") -> list[Object]:
        """Return the objects whose labels match, in one namespace or in all; fast with the index ``by_labels``."""
        candidates = self._candidates(selector, namespace)
        if not selector:
            return candidates
        return [obj for obj in candidates if selector.matches(obj["metadata"].get("labels"))]

    def _candidates(self, selector: Selector, namespace: str) -> list[Object]:
        labels = self._indexes.get(by_labels)
        if labels is not None and namespace:
            # The rarest of the labels that must have one certain value is where to look.
            fewest: dict[str, None] | None = None
            for requirement in selector.requirements:
                if requirement.operator == "in" and len(requirement.values) == 1:
                    keys = labels.keys.get(f"{namespace}/{requirement.key}={requirement.values[0]}", {})
                    if fewest is None or len(keys) < len(fewest):
                        fewest = keys
            if fewest is not None:
                return [self._objects[key] for key in fewest]
        if not namespace:
            return self.values()
        if by_namespace in self._indexes:
            return self.find(by_namespace, namespace)
        return [obj for obj in self._objects.values() if obj["metadata"].get("namespace") == namespace]

    # -- changes, for whoever fills the cache ------------------------------------------------------------

    def put(self, key: str, obj: Object) -> Object | None:
        """Store an object; return the one that it replaces."""
        old = self._objects.get(key)
        self._objects[key] = obj
        for index in self._indexes.values():
            index.change(key, old, obj)
        for union in self._unions:
            union.change(self, key, old, obj)
        return old

    def remove(self, key: str) -> Object | None:
        """Remove an object; return it."""
        old = self._objects.pop(key, None)
        if old is not None:
            for index in self._indexes.values():
                index.change(key, old, None)
            for union in self._unions:
                union.change(self, key, old, None)
        return old
