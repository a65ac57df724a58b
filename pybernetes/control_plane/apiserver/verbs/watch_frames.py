"""Events as they go over the wire: each is encoded once for all who watch."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api import errors, protobuf
from pybernetes.control_plane.apiserver.codec import rendering
from pybernetes.control_plane.apiserver.codec.negotiation import PROTOBUF, Representation
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.observability.metrics import Events
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.resource_version import restamp
from pybernetes.control_plane.store.protocol import Event, Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import JSON
from pybernetes.lib.http.stream import chunk


class Frames:
    """Events as they go over the wire in one representation, each encoded once and kept with the event."""

    __slots__ = ("context", "columns", "form", "include", "key", "kind", "plain", "protobuf")

    def __init__(self, kind: Kind, form: Representation, include: str, context: ServerContext) -> None:
        self.kind, self.form, self.include, self.context = kind, form, include, context
        self.plain = not form.transform
        self.protobuf = form.media == protobuf.MEDIA_TYPE
        self.columns = True
        self.key = (kind.form, form.media, form.transform, form.version, include)

    @property
    def content_type(self) -> bytes:
        """The Content-Type of the stream."""
        return protobuf.MEDIA_TYPE.encode() + b";stream=watch" if self.protobuf else JSON

    @property
    def reads(self) -> bool:
        """Whether objects are decoded to be shown, where the stored bytes are not what is sent."""
        return self.protobuf or not self.plain or self.kind.converts

    def read(self, record: Record) -> object:
        """Do what takes time of showing a record in a plain form; it is kept with the record."""
        return self.kind.message_item(record) if self.form is PROTOBUF else self.kind.data(record)

    def of(self, event: Event, type_: str, record: Record) -> bytes:
        """Return the chunk of an event; a deletion shows the object as it was, with the version of its end."""
        cache = event.frames
        if cache is None:
            cache = event.frames = {}
        key = (type_, self.key)
        frame = cache.get(key)
        if frame is None or (self.columns and not self.plain):
            if record.revision == event.revision:
                frame = self.current(type_, record)
            elif self.plain or len(record.value) <= off_loop.LARGE:
                data = restamp(self.kind.data(record), record.revision, event.revision)
                frame = self._encode(type_, data)
            else:
                obj = self.kind.shared(record)
                meta = {**obj["metadata"], "resourceVersion": str(event.revision)}
                frame = self._event(type_, self._transformed({**obj, "metadata": meta}))
            if self.plain:
                cache[key] = frame
        return frame

    def current(self, type_: str, record: Record) -> bytes:
        """Return the chunk of an event with an object as it is stored."""
        if self.form is PROTOBUF:
            resource, raw = self.kind.resource, protobuf.item_message(self.kind.message_item(record))
            obj = protobuf.envelope(resource.api_version, resource.kind, raw)
            return chunk(protobuf.watch_event(type_, obj))
        if not self.plain and len(record.value) > off_loop.LARGE:
            return self._event(type_, self._transformed(self.kind.shared(record)))
        return self._encode(type_, self.kind.data(record))

    def _encode(self, type_: str, data: bytes) -> bytes:
        """Return the chunk of an event with an object's JSON."""
        if self.protobuf or not self.plain:
            return self._event(type_, self._transformed(orjson.loads(data)))
        return chunk(b'{"type":"%b","object":%b}\n' % (type_.encode(), data))

    def _event(self, type_: str, value: dict[str, Any]) -> bytes:
        if self.protobuf:
            return chunk(protobuf.watch_event(type_, protobuf.encode(value)))
        return chunk(b'{"type":"%b","object":%b}\n' % (type_.encode(), orjson.dumps(value)))

    def error(self, status: errors.StatusError) -> bytes:
        """Return the chunk of what ended a watch."""
        return self._event("ERROR", status.body())

    def _transformed(self, obj: dict[str, Any]) -> dict[str, Any]:
        if self.form.transform == "Table":
            rows = [rendering.row(self.kind, obj, self.context.clock(), self.include)]
            meta = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
            value = rendering.as_table(self.kind, rows, meta, self.form.version, self.columns)
            self.columns = False  # the headings go out once
            return value
        return rendering.partial(obj, self.form.version) if self.form.transform else obj

    def bookmark(self, at: int, annotations: dict[str, str] | None = None) -> bytes:
        """Return the chunk of a bookmark: how far the watch has come."""
        meta: dict[str, Any] = {"resourceVersion": str(at), "creationTimestamp": None}
        if annotations:
            meta["annotations"] = annotations
        if self.form.transform == "Table":
            value = rendering.as_table(self.kind, [], {"resourceVersion": str(at)}, self.form.version, False)
            if annotations:
                value["rows"] = [{"cells": [], "object": {"kind": "PartialObjectMetadata",
                                  "apiVersion": "meta.k8s.io/v1", "metadata": meta}}]  # fmt: skip
        elif self.form.transform:
            value = rendering.partial({"metadata": meta}, self.form.version)
        else:
            resource = self.kind.resource
            value = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta}
        return self._event("BOOKMARK", value)


class Batch:
    """The chunks of the last batch of changes, shared by all watches without selectors of one representation."""

    __slots__ = ("__weakref__", "counted", "events", "joined", "sizes", "watchers")

    def __init__(self, counted: Events) -> None:
        self.counted = counted
        self.events: list[Event] | None = None
        self.joined = b""
        self.sizes: list[int] = []
        self.watchers = 0

    def renew(self, events: list[Event], frames: Frames) -> None:
        """Encode a new batch, and count the last one for all who got it."""
        for size in self.sizes:
            self.counted.sent(size, self.watchers)
        of = frames.of
        chunks = [
            of(event, "ADDED" if event.previous is None else "MODIFIED", event.record)
            if event.record is not None
            else of(event, "DELETED", event.previous)  # type: ignore[arg-type]
            for event in events
        ]
        self.events, self.joined = events, b"".join(chunks)
        self.sizes, self.watchers = [len(frame) for frame in chunks], 0
