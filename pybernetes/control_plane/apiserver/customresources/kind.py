"""A custom resource as it is served: its objects may have been stored under another schema or version."""

from __future__ import annotations

import itertools

import orjson

from pybernetes.api.customresource.kind import Form
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.kinds import Kind, view_of
from pybernetes.control_plane.store.protocol import Record

_serials = itertools.count(1)


class CustomKind(Kind):
    """A version of a custom resource.

    What was written in the storage version after ``since``, the revision at which the definition last changed,
    went through the schema of now, so that its bytes go out as they are, like those of any other kind. Older
    objects are made to fit once, when they are first read.
    """

    def __init__(self, resource: Resource, form: Form, storage: Form, since: int) -> None:
        super().__init__(resource)
        self.schema, self._storage, self._since = form, storage, since
        self.form = f"{resource.api_version}#{next(_serials)}"
        group, version = resource.storage_version or (resource.group, resource.version)
        self._storage_version = f"{group}/{version}"

    def _is_current(self, record: Record) -> bool:
        return record.revision > self._since and not self.converts

    def encode(self, obj: Object) -> bytes:
        """The bytes that are stored: the object in the storage version, fit for that version's schema."""
        if self.converts:
            obj = orjson.loads(orjson.dumps(obj))
            obj["apiVersion"] = self._storage_version
            self._storage.fit(obj)
        return super().encode(obj)

    def data(self, record: Record) -> bytes:
        """A stored object's bytes as this version shows them."""
        if self._is_current(record):
            return record.value
        view = view_of(record)
        found = view.converted.get(self.form)
        if found is None:
            found = orjson.dumps(self.object(record))
            # What fits already is not kept twice.
            view.converted[self.form] = found = record.value if found == record.value else found
        return found

    def object(self, record: Record) -> Object:
        """A stored object, decoded anew: the caller may change it."""
        obj = orjson.loads(record.value)
        if not self._is_current(record):
            obj["apiVersion"] = self.resource.api_version
            self.schema.fit(obj)
        return obj

    def shared(self, record: Record) -> Object:
        """A stored object, decoded once for all who hold it at the same time: nobody may change it."""
        return super().shared(record) if self._is_current(record) else self.object(record)
