"""A custom resource as it is served: its objects may have been stored under another schema or version."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import orjson

from pybernetes.api.customresource.kind import Form
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.codec.body_weight import object_weight
from pybernetes.control_plane.apiserver.custom_resources.conversion_webhook import Converter
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.view import view_of
from pybernetes.control_plane.store.protocol import Record
from pybernetes.lib.event_loop import off_loop

_serials = itertools.count(1)


class CustomKind(Kind):
    """A version of a custom resource.

    What was written in the storage version after ``since``, the revision at which the definition last changed,
    went through the schema of now, so that its bytes go out as they are, like those of any other kind. Older
    objects are made to fit once, when they are first read. With a webhook, what is stored in another version has to be
    converted before it is read.
    """

    def __init__(
        self, resource: Resource, forms: Mapping[str, Form], since: int, webhook: Converter | None = None
    ) -> None:
        """Make the kind; ``forms`` has every version of the definition: objects may be stored in any of them."""
        super().__init__(resource)
        self.schema, self._since = forms[resource.version], since
        self._forms = {f"{resource.group}/{version}": form for version, form in forms.items()}
        self.form = f"{resource.api_version}#{next(_serials)}"
        group, version = resource.storage_version or (resource.group, resource.version)
        self._storage_version = f"{group}/{version}"
        self._storage = self._forms[self._storage_version]
        self._storage_head = b'{"kind":"%b","apiVersion":"%b",' % (
            resource.kind.encode(), self._storage_version.encode()
        )  # fmt: skip
        self.stored_versions = set(self._forms)
        self.webhook = webhook
        self.awaits_webhook = webhook is not None

    def _is_current(self, record: Record) -> bool:
        return record.revision > self._since and not self.converts

    # -- what a webhook converts -------------------------------------------------------------------------------

    def _is_foreign(self, record: Record) -> bool:
        """Return whether only the webhook can say what a stored object is at this version."""
        return self.webhook is not None and not record.value.startswith(self._head)

    def unconverted(self, records: Iterable[Record]) -> list[Record]:
        """Return those of the records that have to be converted before they can be read."""
        return [
            record
            for record in records
            if self._is_foreign(record) and self.form not in view_of(record).converted
        ]

    async def convert(self, records: Iterable[Record]) -> None:
        """Have the webhook convert what is stored in another version."""
        missing = self.unconverted(records)
        if not missing or self.webhook is None:
            return
        objects, pace = [], off_loop.Pace()
        for record in missing:
            objects.append(self._as_stored(record))
            await pace()
        size = sum(len(record.value) for record in missing)
        converted = await self.webhook.convert(objects, self.resource.api_version, self._cleaned, size)
        for record, data in zip(missing, converted, strict=True):
            view_of(record).converted[self.form] = data

    def _cleaned(self, obj: Object) -> bytes:
        return orjson.dumps(self.schema.clean(obj))

    def is_outdated(self, record: Record) -> bool:
        """Return whether an object is stored in another version than it would be now."""
        return not record.value.startswith(self._storage_head)

    async def encode(self, obj: Object) -> bytes:
        """Return the bytes that are stored, once the webhook has converted the object."""
        if self.webhook is None or not self.converts:
            return self.serialize(obj)

        def stored(converted: Object) -> bytes:
            return super(CustomKind, self).serialize(self._storage.fit(converted))

        (data,) = await self.webhook.convert([obj], self._storage_version, stored, object_weight(obj))
        return data

    # -- reading and writing -----------------------------------------------------------------------------------

    def serialize(self, obj: Object) -> bytes:
        """Return the bytes that are stored: the object in the storage version, fit for that version's schema."""
        if self.converts:
            obj = orjson.loads(orjson.dumps(obj))
            obj["apiVersion"] = self._storage_version
            self._storage.fit(obj)
        return super().serialize(obj)

    def data(self, record: Record) -> bytes:
        """Return a stored object's bytes as this version shows them."""
        if self._is_current(record) and record.value.startswith(self._head):
            return record.value
        view = view_of(record)
        data = view.converted.get(self.form)
        if data is None:
            data = orjson.dumps(self.object(record))
            # What fits already is not kept twice.
            view.converted[self.form] = data = record.value if data == record.value else data
        return data

    def object(self, record: Record) -> Object:
        """Return a stored object, decoded anew: the caller may change it."""
        if self._is_foreign(record):
            converted = view_of(record).converted.get(self.form)
            if converted is None:
                raise StatusError(500, "", f"{record.key} is stored in another version and was not converted")
            return orjson.loads(converted)
        if self._is_current(record):
            return self.decode(record)
        obj = self._as_stored(record)
        if obj["apiVersion"] != self.resource.api_version:
            obj["apiVersion"] = self.resource.api_version
            self.schema.clean(obj)
        return obj

    def _as_stored(self, record: Record) -> Object:
        """Return an object as the version in which it is stored shows it: the defaults are those of that version."""
        obj = self.decode(record)
        return self._forms[obj["apiVersion"]].fit(obj)

    def shared(self, record: Record) -> Object:
        """Return a stored object, decoded once for all who hold it at the same time: nobody may change it."""
        return super().shared(record) if self._is_current(record) else self.object(record)
