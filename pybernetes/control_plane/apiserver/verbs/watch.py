"""watch: what happens to objects, as it happens.

A watch costs no task and no poll: the store calls it with each batch of changes, and what an event looks
like on the wire is encoded once for all who watch.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable
from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.codec import negotiation, rendering, websocket_stream
from pybernetes.control_plane.apiserver.codec.negotiation import Representation
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.observability.metrics import Events
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import ListOptions, list_options, revision
from pybernetes.control_plane.apiserver.storage.resource_version import restamp
from pybernetes.control_plane.apiserver.storage.selection import Selection
from pybernetes.control_plane.apiserver.verbs.event_conversion import EventConverter, Sink, convert_all
from pybernetes.control_plane.apiserver.verbs.get import wait_for
from pybernetes.control_plane.store.protocol import Compacted, Event, Record, StoreError
from pybernetes.lib.http.server_connection import Upgrade
from pybernetes.lib.http.stream import Stream, chunk

_BOOKMARK_SECONDS = 60.0
_SHORTEST_TIMEOUT = 1800
_INITIAL_END = {"k8s.io/initial-events-end": "true"}


def watch(
    context: ServerContext, request: Request, kind: Kind
) -> Stream | Upgrade | Awaitable[Stream | Upgrade]:
    """Open a watch."""
    options = list_options(request, watch=True)
    wanted = revision(options.resource_version)
    # Without a version the watch starts with the state of now; a version from the future is waited for.
    if wanted > context.store.revision or not (options.resource_version or context.store.local):
        return _watch_later(context, request, kind, options, wanted)
    return _open(context, request, kind, options, wanted)


async def _watch_later(
    context: ServerContext, request: Request, kind: Kind, options: ListOptions, wanted: int
) -> Stream | Upgrade:
    await wait_for(context, wanted)
    return _open(context, request, kind, options, wanted)


def _open(
    context: ServerContext, request: Request, kind: Kind, options: ListOptions, wanted: int
) -> Stream | Upgrade:
    form = negotiation.representation(request)
    if form.media != "application/json":
        raise errors.not_acceptable(("application/json;stream=watch",))
    if form.transform == "PartialObjectMetadataList":
        raise errors.not_acceptable(("application/json",))
    selection = Selection(kind, options)
    namespace = request.request_info.namespace
    name = request.request_info.name or (selection.name if namespace or not kind.namespaced else "")
    # A watch of one object listens to its key alone.
    prefix = kind.key(namespace, name) if name else kind.collection(namespace)
    if request.local is not None and not form.transform:
        return request.local.watch(context, kind, prefix, selection, options, wanted)
    frames = Frames(kind, form, request.parameter("includeObject") or "Metadata", context)
    stream = Watcher(context, kind, prefix, selection, options, frames, wanted).stream
    return websocket_stream.lines(stream, request) if websocket_stream.wanted(request) else stream


class Frames:
    """Events as they go over the wire in one representation, each encoded once and kept with the event."""

    __slots__ = ("context", "columns", "form", "include", "key", "kind", "plain")

    def __init__(self, kind: Kind, form: Representation, include: str, context: ServerContext) -> None:
        self.kind, self.form, self.include, self.context = kind, form, include, context
        self.plain = not form.transform
        self.columns = True
        self.key = (kind.form, form.transform, form.version, include)

    def of(self, event: Event, type_: str, record: Record) -> bytes:
        """Return the chunk of an event; a deletion shows the object as it was, with the version of its end."""
        cache = event.frames
        if cache is None:
            cache = event.frames = {}
        key = (type_, self.key)
        frame = cache.get(key)
        if frame is None or (self.columns and not self.plain):
            data = self.kind.data(record)
            if record.revision != event.revision:
                data = restamp(data, record.revision, event.revision)
            frame = self.encode(type_, data)
            if self.plain:
                cache[key] = frame
        return frame

    def encode(self, type_: str, data: bytes) -> bytes:
        """Return the chunk of an event with an object's bytes."""
        if not self.plain:
            data = self._transformed(orjson.loads(data))
        return chunk(b'{"type":"%b","object":%b}\n' % (type_.encode(), data))

    def _transformed(self, obj: dict[str, Any]) -> bytes:
        if self.form.transform == "Table":
            rows = [rendering.row(self.kind, obj, self.context.clock(), self.include)]
            meta = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
            value = rendering.as_table(self.kind, rows, meta, self.form.version, self.columns)
            self.columns = False  # the headings go out once
            return orjson.dumps(value)
        return orjson.dumps(rendering.partial(obj, self.form.version))

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
        return chunk(b'{"type":"BOOKMARK","object":%b}\n' % orjson.dumps(value))


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


class Watcher:
    """One open watch."""

    def __init__(
        self,
        context: ServerContext,
        kind: Kind,
        prefix: str,
        selection: Selection,
        options: ListOptions,
        frames: Frames,
        start: int,
    ) -> None:
        self.context, self.kind, self.prefix, self.frames = context, kind, prefix, frames
        self.match = selection.match
        self.options = options
        self.start = start
        self.sent = 0
        self.stream = Stream()
        self.stream.on_open = self._begin
        self.stream.on_close = self._end
        self._watch: Any = None
        self._timers: list[asyncio.TimerHandle] = []
        self._events = context.metrics.events(kind.resource)
        # A Table's headings go out once per watch, so its frames cannot be shared.
        self._batch = Batch(self._events)
        if frames.plain:
            self._batch = context.batches.setdefault((prefix, frames.key), self._batch)
        scope = "namespace" if prefix != kind.prefix and kind.namespaced else "cluster"
        self._open_watches = context.metrics.long_running("watch", kind.resource, "", scope)
        # Too old a version is an answer of its own while nothing has been sent yet.
        if start and start < context.store.compacted:
            raise errors.expired(f"too old resource version: {start} ({context.store.compacted})")

    def _begin(self) -> None:
        self._open_watches.value += 1
        self.kind.watches.add(self.stream.end)
        loop = asyncio.get_running_loop()
        timeout = self.options.timeout
        if timeout is None or timeout <= 0:
            timeout = int(_SHORTEST_TIMEOUT * (1 + random.random()))
        self._timers = [loop.call_later(timeout, self.stream.end)]
        if self.kind.awaits_webhook:
            self._beginning = loop.create_task(self._listen_later())
        else:
            self._listen()

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        initial = self.options.initial_events
        at = self.start
        if initial or (initial is None and not at):
            at = self._send_state()
        elif initial is False and not at:
            at = self.context.store.revision
        if initial and self.options.bookmarks:
            self.stream.write(self.frames.bookmark(at, _INITIAL_END))
        if self.options.bookmarks:
            self._timers.append(
                loop.call_later(_BOOKMARK_SECONDS * (0.9 + 0.2 * random.random()), self._bookmark)
            )
        self.sent = at
        try:
            sink: Sink = self._all if self.match is None else self._matching
            if self.kind.awaits_webhook:
                sink = EventConverter(self.kind, sink, self._failed).take
            self._watch = self.context.store.watch(self.prefix, at, sink, closed=self._closed)
        except Compacted as error:
            self._closed(error)

    async def _listen_later(self) -> None:
        """Begin once all that is there now has been converted."""
        try:
            await convert_all(self.context, self.kind, self.prefix)
        except errors.StatusError as error:
            self._failed(error)
        else:
            if not self.stream.closed:
                self._listen()

    def _failed(self, error: errors.StatusError) -> None:
        self.stream.write(chunk(b'{"type":"ERROR","object":%b}\n' % orjson.dumps(error.body())))
        self.stream.end()

    def _send_state(self) -> int:
        """Send every object as it is now, as if it had just been added."""
        store, kind, match = self.context.store, self.kind, self.match
        if self.prefix.endswith("/"):
            records = store.list(self.prefix).records
        else:
            record = store.get(self.prefix)
            records = [record] if record is not None else []
        encode, data = self.frames.encode, kind.data
        chunks = [encode("ADDED", data(record)) for record in records if match is None or match(record)]
        if chunks:
            self.stream.write(b"".join(chunks))
        return store.revision

    def _all(self, events: list[Event]) -> None:
        """Send a batch of changes to a watch without selectors: it is encoded once for all of them."""
        batch = self._batch
        if batch.events is not events:
            batch.renew(events, self.frames)
        batch.watchers += 1
        self.stream.write(batch.joined)

    def _matching(self, events: list[Event]) -> None:
        """Send changes to a watch with selectors: an object that stops matching is gone, one that starts is new."""
        match, of = self.match, self.frames.of
        assert match is not None
        for event in events:
            before, now = event.previous, event.record
            matched = before is not None and match(before)
            if now is not None and match(now):
                self._send(of(event, "MODIFIED" if matched else "ADDED", now))
            elif matched:
                self._send(of(event, "DELETED", before))  # type: ignore[arg-type]

    def _send(self, frame: bytes) -> None:
        self._events.sent(len(frame))
        self.stream.write(frame)

    def _bookmark(self) -> None:
        at = self.context.store.revision
        if at != self.sent:
            self.sent = at
            self.stream.write(self.frames.bookmark(at))
        loop = asyncio.get_running_loop()
        self._timers[1:] = [loop.call_later(_BOOKMARK_SECONDS, self._bookmark)]

    def _closed(self, error: StoreError | None) -> None:
        if error is not None:
            status = errors.expired(f"too old resource version: {error}")
            self.stream.write(chunk(b'{"type":"ERROR","object":%b}\n' % orjson.dumps(status.body())))
        self.stream.end()

    def _end(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._open_watches.value -= 1
        self.kind.watches.discard(self.stream.end)
        if self._watch is not None:
            self._watch.close()
            self._watch = None
