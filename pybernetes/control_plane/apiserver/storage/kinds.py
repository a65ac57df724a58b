"""The kinds that a server serves, and where each keeps its objects.

Built-in kinds are there from the start; custom ones come and go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any
from weakref import ref

import orjson

from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Type, kind_type
from pybernetes.control_plane.apiserver.storage import nulls
from pybernetes.control_plane.store.protocol import Record

ROOT = "/registry/"


class Kind:
    """A resource as it is served: keys, encoding, reading."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.prefix = f"{ROOT}{resource.storage_path}/"
        self.namespaced = resource.namespaced
        self.selectable = {
            "metadata.name": lambda obj: obj["metadata"].get("name", ""),
            "metadata.namespace": lambda obj: obj["metadata"].get("namespace", ""),
            **resource.selectable,
        }
        self.converts = resource.storage_version is not None
        # What is derived from a record belongs to a version of the kind, and to one schema of a custom one.
        self.form = resource.api_version
        # Closes each open watch, for a kind that is no longer served.
        self.watches: set[Callable[[], None]] = set()
        # Whether records have to be prepared before they are read, because a webhook converts them.
        self.prepares = False
        self._head = b'{"kind":"%b","apiVersion":"%b",' % (
            resource.kind.encode(), resource.api_version.encode()
        )  # fmt: skip

    def key(self, namespace: str, name: str) -> str:
        """Where an object is kept."""
        return f"{self.prefix}{namespace}/{name}" if self.namespaced else self.prefix + name

    def collection(self, namespace: str) -> str:
        """The prefix of a namespace's objects, or of all."""
        return f"{self.prefix}{namespace}/" if namespace and self.namespaced else self.prefix

    def encode(self, obj: Object) -> bytes:
        """The bytes that are stored: kind, apiVersion and metadata first, without a resourceVersion."""
        if self.resource.to_storage is not None:
            obj = self.resource.to_storage(obj)
        meta = obj["metadata"]
        if "resourceVersion" in meta:
            meta = {key: value for key, value in meta.items() if key != "resourceVersion"}
        ordered = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": meta}
        for key, value in obj.items():
            if key not in ordered:
                ordered[key] = value
        return orjson.dumps(ordered if self._stored is None else nulls.fill(ordered, self._stored))

    def is_outdated(self, record: Record) -> bool:
        """Whether an object is stored in another version than it would be now."""
        return False

    async def seal(self, obj: Object) -> bytes:
        """The bytes that are stored, where it may take time to make them."""
        return self.encode(obj)

    def unprepared(self, records: Iterable[Record]) -> list[Record]:
        """Those of the records that have to be prepared."""
        return []

    async def prepare(self, records: Iterable[Record]) -> None:
        """Makes records ready to be read, which takes time where a webhook converts them."""

    def shown(self, obj: Object) -> Object:
        """An object of this version as clients see it; it is changed in place."""
        return obj if self.resource.own_type is not None else nulls.fill(obj, self.resource.type)

    def data(self, record: Record) -> bytes:
        """A stored object's bytes as this version shows them."""
        if not self.converts:
            return record.value
        view = view_of(record)
        if self.form not in view.converted:
            view.converted[self.form] = orjson.dumps(self.shown(self.object(record)))
        return view.converted[self.form]

    def items(self, records: Iterable[Record]) -> list[bytes]:
        """Stored objects' bytes as a list shows them: without the kind and version that it says once for all."""
        head, length = self._head, len(self._head)
        values = [self.data(record) for record in records]
        return [b"{" + value[length:] if value.startswith(head) else value for value in values]

    def object(self, record: Record) -> Object:
        """A stored object, decoded anew: the caller may change it."""
        obj = orjson.loads(record.value)
        if b":null" in record.value and self._stored is not None:
            nulls.drop(obj, self._stored)
        if self.resource.from_storage is not None:
            obj = self.resource.from_storage(obj)
        return obj

    def shared(self, record: Record) -> Object:
        """A stored object, decoded once for all who hold it at the same time: nobody may change it."""
        if self.converts:
            return self.object(record)
        view = view_of(record)
        found = view.object() if view.object is not None else None
        if found is None:
            found = SharedObject(self.object(record))
            view.object = ref(found)
            _LATELY.append(found)
        return found

    @cached_property
    def _stored(self) -> Type | None:
        """The built-in type that is stored, if it is one."""
        resource = self.resource
        if resource.own_type is not None:
            return None
        return (
            kind_type(*resource.storage_version, resource.kind) if resource.storage_version else resource.type
        )

    def labels(self, record: Record) -> dict[str, str]:
        """The labels of a stored object, decoded once."""
        view = view_of(record)
        if view.labels is None:
            self._look(record, view)
        return view.labels  # type: ignore[return-value]

    def fields(self, record: Record) -> dict[str, str]:
        """What field selectors see of a stored object, computed once."""
        view = view_of(record)
        found = view.fields.get(self.form)
        if found is None:
            self._look(record, view)
            found = view.fields[self.form]
        return found

    def _look(self, record: Record, view: View) -> None:
        obj = self.shared(record)
        view.labels = obj["metadata"].get("labels") or {}
        view.fields[self.form] = {name: get(obj) for name, get in self.selectable.items()}


class SharedObject(dict[str, Any]):
    """A decoded object that goes when the last who holds it lets go, however long its record is kept."""

    __slots__ = ("__weakref__",)


# Those who look at a change look one after the other: what the first has decoded is still there for the others.
_LATELY: deque[SharedObject] = deque(maxlen=32)


class View:
    """What was derived from a record, kept beside it."""

    __slots__ = ("converted", "fields", "labels", "object")

    def __init__(self) -> None:
        self.labels: dict[str, str] | None = None
        self.fields: dict[str, dict[str, str]] = {}  # by version, since each has its own
        self.object: ref[SharedObject] | None = None
        self.converted: dict[str, bytes] = {}


def view_of(record: Record) -> View:
    """The view of a record, made if there is none yet."""
    view = record.view
    if view is None:
        view = record.view = View()
    return view


class Kinds:
    """All kinds that are served, by group, version and plural."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self._kinds: dict[tuple[str, str, str], Kind] = {}
        # Called after a kind came or went, to drop what was derived from the list.
        self.listeners: list[Callable[[], None]] = []
        for resource in resources:
            self._kinds[resource.group, resource.version, resource.plural] = Kind(resource)

    def get(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind served at a place, or None."""
        return self._kinds.get((group, version, plural))

    def find(self, group: str, plural: str) -> Kind:
        """A kind by its group and plural, in whichever version comes first; KeyError if there is none."""
        for (its_group, _, its_plural), kind in self._kinds.items():
            if its_group == group and its_plural == plural:
                return kind
        raise KeyError((group, plural))

    def has_version(self, group: str, version: str) -> bool:
        """Whether a group is served at a version."""
        return any(key[0] == group and key[1] == version for key in self._kinds)

    def __iter__(self) -> Any:
        return iter(self._kinds.values())

    def add(self, kind: Kind) -> None:
        """Serves one more kind."""
        resource = kind.resource
        self._kinds[resource.group, resource.version, resource.plural] = kind
        self._changed()

    def remove(self, kind: Kind) -> None:
        """Stops serving a kind, and ends its watches."""
        resource = kind.resource
        self._kinds.pop((resource.group, resource.version, resource.plural), None)
        self._changed()
        for close in list(kind.watches):
            close()

    def _changed(self) -> None:
        for listener in self.listeners:
            listener()
