"""A kind that is served: the keys of its objects, and their way to stored bytes and back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import cached_property
from weakref import ref

import orjson

from pybernetes.api import protobuf
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Type, definition_name, has_message, kind_type
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.storage import encoded, nulls
from pybernetes.control_plane.apiserver.storage import written_messages as written
from pybernetes.control_plane.apiserver.storage.recently_decoded import RecentlyDecoded
from pybernetes.control_plane.apiserver.storage.view import SharedObject, View, view_of
from pybernetes.control_plane.store.protocol import Damaged, Record
from pybernetes.lib.event_loop import json_pieces, off_loop
from pybernetes.lib.event_loop.json_pieces import MANY_MARKS

log = logging.getLogger(__name__)

ROOT = "/registry/"
_RECENTLY_DECODED = RecentlyDecoded()


class Kind:
    """A resource as it is served: keys, encoding, reading."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.prefix = f"{ROOT}{resource.storage_path}/"
        self.namespaced = resource.namespaced
        self.selectable: dict[str, Callable[[Object], str]] = {
            "metadata.name": lambda obj: obj["metadata"].get("name", ""),
            "metadata.namespace": lambda obj: obj["metadata"].get("namespace", ""),
            **resource.selectable,
        }
        self.converts = resource.storage_version is not None
        # What is derived from a record belongs to a version of the kind, and to one schema of a custom one.
        self.form = resource.api_version
        # Closes each open watch, for a kind that is no longer served.
        self.watches: set[Callable[[], None]] = set()
        # What turned out not to be an object of this kind, and why, by key; some may have been replaced since.
        self.unreadable: dict[str, tuple[Record, str]] = {}
        # The versions that objects may be stored in.
        self.stored_versions = {resource.api_version}
        if resource.storage_version is not None:
            self.stored_versions.add("/".join(filter(None, resource.storage_version)))
        # Whether messages are stored, and not JSON.
        self.stores_messages = False
        # Whether a webhook converts objects between what is stored and this version, which takes time.
        self.awaits_webhook = False
        self._head = b'{"kind":"%b","apiVersion":"%b",' % (
            resource.kind.encode(), resource.api_version.encode()
        )  # fmt: skip

    def key(self, namespace: str, name: str) -> str:
        """Return the key at which an object is kept."""
        return f"{self.prefix}{namespace}/{name}" if self.namespaced else self.prefix + name

    def collection(self, namespace: str) -> str:
        """Return the prefix of a namespace's objects, or of all objects."""
        return f"{self.prefix}{namespace}/" if namespace and self.namespaced else self.prefix

    # -- writing ---------------------------------------------------------------------------------------------

    def serialize(self, obj: Object) -> bytes:
        """Return the bytes to store: kind, apiVersion and metadata first, without a resourceVersion."""
        if self.resource.to_storage is not None:
            obj = self.resource.to_storage(obj)
        meta = obj["metadata"]
        if "resourceVersion" in meta:
            meta = meta.copy()
            del meta["resourceVersion"]
        ordered = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": meta, **obj}
        ordered["metadata"] = meta
        return orjson.dumps(ordered if self._stored is None else nulls.fill(ordered, self._stored))

    def stored_form(self, obj: Object) -> bytes:
        """Return the bytes to store in the form that is stored: JSON, or the envelope of a message."""
        data = self.serialize(obj)
        if not self.stores_messages:
            return data
        message = protobuf.encode(orjson.loads(data))
        written.remember(message, data)
        return message

    async def encode(self, obj: Object) -> bytes:
        """Return the bytes to store, converted by the webhook if the kind has one."""
        return self.serialize(obj)

    def is_outdated(self, record: Record) -> bool:
        """Return whether an object is stored in another version than it would be now."""
        return False

    # -- reading ---------------------------------------------------------------------------------------------

    def unconverted(self, records: Iterable[Record]) -> list[Record]:
        """Return those of the records that a webhook has to convert before they can be read."""
        return []

    async def convert(self, records: Iterable[Record]) -> None:
        """Make records readable by having the webhook, if there is one, convert them."""

    def shown(self, obj: Object) -> Object:
        """Change an object of this version, in place, to what clients see, and return it."""
        return obj if self.resource.own_type is not None else nulls.fill(obj, self.resource.type)

    def data(self, record: Record) -> bytes:
        """Return a stored object's bytes as this version shows them."""
        if not self.converts:
            value = record.value
            if not value.startswith(self._head):
                self.decode(record)
            return value
        view = view_of(record)
        if self.form not in view.converted:
            view.converted[self.form] = orjson.dumps(self.shown(self.object(record)))
        return view.converted[self.form]

    def items(self, records: Iterable[Record]) -> list[bytes]:
        """Return stored objects' bytes as a list shows them: without the kind and version that it says once."""
        head, length = self._head, len(self._head)
        values = [self.data(record) for record in records]
        return [b"{" + value[length:] if value.startswith(head) else value for value in values]

    @cached_property
    def message(self) -> str:
        """The definition of its message in protobuf; empty if it has none."""
        resource = self.resource
        if resource.own_type is not None or not has_message(resource.group, resource.version, resource.kind):
            return ""
        return definition_name(resource.group, resource.version, resource.kind)

    def is_encoded(self, record: Record) -> bool:
        """Return whether an object's message is at hand."""
        view = record.view
        return view is not None and view.message is not None and view.message[0] == self.form

    def message_item(self, record: Record) -> bytes:
        """Return a stored object's message as a list has it: after a tag and its size. It is made once."""
        view = view_of(record)
        kept = view.message
        if kept is not None and kept[0] == self.form:
            return kept[1]
        item = protobuf.item(protobuf.message(self.message, orjson.loads(self.data(record))))
        view.message = (self.form, item)
        encoded.keep(view, len(item))
        return item

    def object(self, record: Record) -> Object:
        """Return a stored object, decoded anew: the caller may change it."""
        obj = self.decode(record)
        if b":null" in record.value and self._stored is not None:
            nulls.drop(obj, self._stored)
        if self.resource.from_storage is not None:
            obj = self.resource.from_storage(obj)
        return obj

    def decode(self, record: Record) -> Object:
        """Return what is stored as it is; Damaged if it is not an object of this kind."""
        try:
            raw = record.value
            obj: Object = orjson.loads(raw) if len(raw) <= MANY_MARKS else json_pieces.value(raw)
            if obj["kind"] == self.resource.kind and obj["apiVersion"] in self.stored_versions:
                return obj
            problem = f"it is {go_format.quote(obj['kind'])} of {go_format.quote(obj['apiVersion'])}"
        except (ValueError, KeyError, TypeError) as error:
            problem = f"it is no object: {error!r}"
        if record.key not in self.unreadable:
            self.unreadable[record.key] = (record, problem)
            log.error("%s cannot be read: %s", record.key, problem)
        raise Damaged(record.key, record.revision, problem)

    def shared(self, record: Record) -> Object:
        """Return a stored object, decoded once for all who hold it at the same time: nobody may change it."""
        if self.converts:
            return self.object(record)
        view = view_of(record)
        shared = view.object() if view.object is not None else None
        if shared is None:
            shared = SharedObject(self.object(record))
            if len(record.value) > off_loop.LARGE:
                shared.size = len(record.value)
            again, view.object = view.object is not None, ref(shared)
            _RECENTLY_DECODED.hold(shared, len(record.value), again)
        return shared

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
        """Return the labels of a stored object, decoded once."""
        view = view_of(record)
        if view.labels is None:
            return self._derive(record, view)
        return view.labels

    def fields(self, record: Record) -> dict[str, str]:
        """Return what field selectors see of a stored object, computed once."""
        view = view_of(record)
        fields = view.fields.get(self.form)
        if fields is None:
            self._derive(record, view)
            fields = view.fields[self.form]
        return fields

    def _derive(self, record: Record, view: View) -> dict[str, str]:
        """Note the labels and the selectable fields of a record; return the labels."""
        obj = self.shared(record)
        labels = view.labels = obj["metadata"].get("labels") or {}
        view.fields[self.form] = {name: get(obj) for name, get in self.selectable.items()}
        return labels
