"""watch: what happens to objects, as it happens.

A watch costs no task and no poll: the store calls it with each batch of changes, and what an event looks
like on the wire is encoded once for all who watch.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Iterable, Iterator
from copy import copy

from pybernetes.api import errors, protobuf
from pybernetes.control_plane.apiserver.codec import negotiation, websocket_stream
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import ListOptions, list_options, revision
from pybernetes.control_plane.apiserver.storage.selection import Selection
from pybernetes.control_plane.apiserver.verbs.get import wait_for
from pybernetes.control_plane.apiserver.verbs.watch_frames import Batch, Frames
from pybernetes.control_plane.apiserver.verbs.watched import Following, Watched
from pybernetes.control_plane.store.protocol import Damaged, Event, Record, StoreError
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.stream import Stream
from pybernetes.lib.http.upgrade import Upgrade

_BOOKMARK_SECONDS = 60.0
# What a selector takes for each of its characters: 17 to 37 bytes were measured.
_SELECTOR_BYTES = 40
_STREAMED = ("application/json", protobuf.MEDIA_TYPE)
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
    form = negotiation.representation(request, bool(kind.message))
    if form.media not in _STREAMED:
        offered = [f"{media};stream=watch" for media in _STREAMED]
        raise errors.not_acceptable(offered if kind.message else offered[:1])
    if form.transform == "PartialObjectMetadataList":
        raise errors.not_acceptable(("application/json",))
    selection = Selection(kind, options)
    namespace = request.request_info.namespace
    name = request.request_info.name or (selection.name if namespace or not kind.namespaced else "")
    # A watch of one object listens to its key alone.
    prefix = kind.key(namespace, name) if name else kind.collection(namespace)
    watched = Watched(context, kind, prefix, selection.match, options, wanted)
    if request.local is not None and not form.transform:
        return request.local.watch(watched)
    frames = Frames(kind, form, request.parameter("includeObject") or "Metadata", context)
    stream = Watcher(watched, frames, request.user.name).stream
    if not websocket_stream.wanted(request):
        return stream
    if frames.protobuf:
        return websocket_stream.sized(stream, request)
    return websocket_stream.lines(stream, request)


class Watcher:
    """One open watch."""

    def __init__(self, watched: Watched, frames: Frames, owner: str) -> None:
        context, kind, options = watched.context, watched.kind, watched.options
        self._owner = owner
        self._selector_bytes = _SELECTOR_BYTES * (len(options.label_selector) + len(options.field_selector))
        self._is_held = False
        if not context.watch_selectors.fits(owner, self._selector_bytes):
            raise errors.too_many_requests(
                "too many watches with long selectors of this user, please try again later"
            )
        self.watched, self.frames = watched, frames
        self.context, self.kind, self.options = context, kind, options
        self.sent = 0
        self.stream = Stream(content_type=frames.content_type)
        self.stream.on_open = self._begin
        self.stream.on_close = self._end
        self._watch: Following | None = None
        self._is_resuming = False  # whether what comes is what the watch has missed
        self._timers: list[asyncio.TimerHandle] = []
        self._began = 0.0
        self._events = context.metrics.events(kind.resource)
        # A Table's headings go out once per watch, so its frames cannot be shared.
        self._batch = Batch(self._events)
        if frames.plain:
            self._batch = context.batches.setdefault((watched.prefix, frames.key), self._batch)
        self._open_watches = watched.open_watches()
        # Whether a change has to be read before it can be shown, or is shown by its bytes.
        self._reads = watched.match is not None or frames.reads
        # Too old a version is an answer of its own while nothing has been sent yet.
        if watched.start and watched.start < context.store.compacted:
            raise errors.expired(f"too old resource version: {watched.start} ({context.store.compacted})")

    def _begin(self) -> None:
        self._open_watches.value += 1
        self.context.watch_selectors.hold(self._owner, self._selector_bytes)
        self._is_held = True
        self.kind.watches.add(self.stream.end)
        loop = asyncio.get_running_loop()
        timeout = self.options.timeout
        if timeout is None or timeout <= 0:
            timeout = int(self.context.watch_seconds * (1 + random.random()))
        self._timers = [loop.call_later(timeout, self.stream.end)]
        self._began = loop.time()
        watched = self.watched
        if self.kind.awaits_webhook or (self._reads and watched.begins_with_state and watched.takes_long()):
            beginning = watched.begin(self._state, self._listen, self._failed, lambda: self.stream.closed)
            self._beginning = loop.create_task(beginning)
        else:
            self._listen()

    def _listen(self, state: tuple[Iterable[bytes], int] | None = None) -> None:
        try:
            self._start(state)
        except Damaged:
            self._failed(damage.list_status(self.kind, self.watched.records()))

    def _start(self, state: tuple[Iterable[bytes], int] | None) -> None:
        loop = asyncio.get_running_loop()
        initial = self.options.initial_events
        at = self.watched.start
        if self.watched.begins_with_state:
            frames, at = state or (self._state(self.watched.records()), self.context.store.revision)
            self.stream.begin_with(iter(frames))
        elif not at:
            at = self.context.store.revision
        if initial and self.options.bookmarks:
            self.stream.write(self.frames.bookmark(at, _INITIAL_END))
            seconds = loop.time() - self._began
            self.context.metrics.watch_list(self.kind.resource, self.watched.scope(), seconds)
        if self.options.bookmarks:
            self._timers.append(
                loop.call_later(_BOOKMARK_SECONDS * (0.9 + 0.2 * random.random()), self._bookmark)
            )
        self.sent = at
        sink = self._all if self.watched.match is None else self._matching
        self._is_resuming = True
        self._watch = self.watched.follow(
            at, sink, self._failed, self._closed, self._prepare if self._reads else None
        )
        self._is_resuming = False

    def _failed(self, error: errors.StatusError) -> None:
        self.stream.write(self.frames.error(error))
        self.stream.end()

    def _state(self, records: list[Record]) -> Iterable[bytes]:
        """Return records as if they had just been added."""
        current, read = self.frames.current, self.frames.read
        records = self.watched.matching(records)
        if self.frames.plain:
            for record in records:
                read(record)  # what cannot be read is told before anything is sent
            return (current("ADDED", record) for record in records)  # made as fast as the client reads
        # The first frame of a Table has its headings, so that its frames are made in their order.
        return [current("ADDED", record) for record in records]

    def _all(self, events: list[Event]) -> None:
        """Send a batch of changes to a watch without selectors: it is encoded once for all of them."""
        if self._is_resuming and len(events) > off_loop.MANY:
            self.stream.begin_with(self._missed(events))
            return
        batch = self._batch
        if batch.events is not events:
            batch.renew(events, self.frames)
        batch.watchers += 1
        self.stream.write(batch.joined)

    def _matching(self, events: list[Event]) -> None:
        """Send changes to a watch with selectors: an object that stops matching is gone, one that starts is new."""
        if self._is_resuming and len(events) > off_loop.MANY:
            self.stream.begin_with(self._missed(events))
            return
        for event in events:
            if frame := self._frame(event, self.frames):
                self._events.sent(len(frame))
                self.stream.write(frame)

    def _frame(self, event: Event, frames: Frames) -> bytes:
        """Return what a watch gets of a change; nothing if the object did not match and does not."""
        match, of = self.watched.match, frames.of
        before, now = event.previous, event.record
        matched = before is not None and (match is None or match(before))
        if now is not None and (match is None or match(now)):
            return of(event, "MODIFIED" if matched else "ADDED", now)
        return of(event, "DELETED", before) if matched else b""  # type: ignore[arg-type]

    def _prepare(self, event: Event) -> object:
        """Read a change beside the event loop: what is made of it is kept with the event, or by who gets this."""
        if self.frames.plain:
            return self._frame(event, self.frames)
        records = [record for record in (event.record, event.previous) if record is not None]
        return [self.kind.shared(record) for record in self.watched.matching(records)]

    def _missed(self, events: list[Event]) -> Iterator[bytes]:
        """Yield what a watch gets of the many changes that it missed, made as fast as the client reads."""
        frames = copy(self.frames)  # a Table's headings go before these, and before what happens meanwhile
        for event in events:
            try:
                frame = self._frame(event, frames)
            except Damaged as error:
                asyncio.get_running_loop().call_soon(self._closed, error)
                return
            if frame:
                self._events.sent(len(frame))
            yield frame

    def _bookmark(self) -> None:
        at = self.context.store.revision
        if at != self.sent and not (self._watch is not None and self._watch.is_behind):
            self.sent = at
            self.stream.write(self.frames.bookmark(at))
        loop = asyncio.get_running_loop()
        self._timers[1:] = [loop.call_later(_BOOKMARK_SECONDS, self._bookmark)]

    def _closed(self, error: StoreError | None) -> None:
        if isinstance(error, Damaged):
            self._failed(damage.watch_status(error, self.context.store))
            return
        if error is not None:
            self.stream.write(self.frames.error(errors.expired(f"too old resource version: {error}")))
        self.stream.end()

    def _end(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._open_watches.value -= 1
        if self._is_held:
            self.context.watch_selectors.release(self._owner, self._selector_bytes)
        self.kind.watches.discard(self.stream.end)
        if self._watch is not None:
            self._watch.close()
            self._watch = None
