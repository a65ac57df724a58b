"""Reports what happens to objects as Events, which ``kubectl describe`` shows.

``Recorder`` writes Events of the core group, as most of upstream's controllers do; ``SeriesRecorder`` writes those of
events.k8s.io, as the scheduler does. Recording never waits and never fails: a report is not worth a reconcile.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import random
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from pybernetes.api.resource import Object
from pybernetes.client.client import STRATEGIC_PATCH, Client
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import EVENTS, NEW_EVENTS, Ref
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.runtime.correlation import Correlator, Names

log = logging.getLogger(__name__)
NORMAL = "Normal"
WARNING = "Warning"
_QUEUED = 1000
_TRIES = 12
_RETRY_SECONDS = 10.0
_SERIES_SECONDS = 360.0
_REFRESH_SECONDS = 1800.0


def reference(obj: Object, field_path: str = "") -> Object:
    """Return the reference to an object that an event has."""
    meta = obj["metadata"]
    result = {
        "kind": obj.get("kind"), "namespace": meta.get("namespace"), "name": meta.get("name"), "uid": meta.get("uid"),
        "apiVersion": obj.get("apiVersion"), "resourceVersion": meta.get("resourceVersion"), "fieldPath": field_path,
    }  # fmt: skip
    return {key: value for key, value in result.items() if value}


class EventSink(Protocol):
    """Whoever takes events to be written."""

    def send(self, ref: Ref, event: Object, patch: Object | None) -> None:
        """Queue an event to be created, or patched if it already exists."""


class Sender:
    """Writes events one after the other, and drops them when there are too many to keep up with."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._queue: deque[tuple[Ref, Object, Object | None]] = deque()
        self._task: asyncio.Task[None] | None = None
        self.dropped = 0

    def send(self, ref: Ref, event: Object, patch: Object | None) -> None:
        """Queue an event to be created, or patched if it already exists."""
        if len(self._queue) >= _QUEUED:
            self.dropped += 1
            log.debug("too many events, one about %s was dropped", event["metadata"]["name"])
            return
        self._queue.append((ref, event, patch))
        if self._task is None or self._task.done():
            # A context of its own: these writes are not those of whoever reports.
            self._task = asyncio.create_task(self._run(), context=contextvars.Context(), name="events")

    async def flush(self) -> None:
        """Wait until everything reported so far is written or given up."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def close(self, seconds: float = 1.0) -> None:
        """Write what is possible within a moment, and stop."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=seconds)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._queue:
            ref, event, patch = self._queue.popleft()
            for attempt in range(_TRIES):
                if await self._write(ref, event, patch):
                    break
                # Not all at once when a server comes back.
                await self._clock.sleep(_RETRY_SECONDS * (random.random() if attempt == 0 else 1))

    async def _write(self, ref: Ref, event: Object, patch: Object | None) -> bool:
        """Return whether the event is written, or will never be."""
        meta = event["metadata"]
        try:
            if patch is not None:
                try:
                    await self._client.patch(
                        ref, meta["name"], patch, meta["namespace"], type=STRATEGIC_PATCH
                    )
                    return True
                except NotFound:  # it has expired
                    pass
            await self._client.create(ref, event)
        except AlreadyExists:
            pass
        except StatusError as error:
            log.debug("the server rejected the event %s: %s", meta["name"], error)
        except OSError as error:
            log.debug("the event %s cannot be written now: %s", meta["name"], error)
            return False
        return True


class Recorder:
    """Reports events in the name of a component."""

    def __init__(
        self,
        client: Client,
        component: str,
        *,
        host: str = "",
        clock: Clock | None = None,
        sender: Sender | None = None,
        is_gone: Callable[[Object], bool] | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._source = {"component": component, "host": host} if host else {"component": component}
        self._host, self._component = host, component
        self._names = Names()
        self._correlator = Correlator(self._clock, self._names, *filter(None, (is_gone,)))
        self.sender = sender or Sender(client, self._clock)

    def normal(self, obj: Object, reason: str, message: str, **more: Any) -> None:
        """Report that something went as it should."""
        self.event(obj, NORMAL, reason, message, **more)

    def warning(self, obj: Object, reason: str, message: str, **more: Any) -> None:
        """Report that something went wrong."""
        self.event(obj, WARNING, reason, message, **more)

    def event(
        self, obj: Object, type: str, reason: str, message: str, *, annotations: dict[str, str] | None = None,
        field_path: str = "",
    ) -> None:  # fmt: skip
        """Report an event about an object."""
        now = self._clock.now()
        moment = rfc3339.seconds(now)
        about = reference(obj, field_path)
        name = self._names.make(about.get("name", ""), now)
        event: Object = {
            "metadata": {"name": name, "namespace": about.get("namespace") or "default"},
            "involvedObject": about,
            "reason": reason,
            "message": message,
            "source": self._source,
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
            "type": type,
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
        }
        if annotations:
            event["metadata"]["annotations"] = annotations
        correlated = self._correlator.correlate(event)
        if correlated is None:
            return
        event, again = correlated
        patch = {key: event[key] for key in ("count", "lastTimestamp", "message")} if again else None
        self.sender.send(EVENTS, event, patch)


class SeriesRecorder:
    """Reports events of events.k8s.io: what happens again within minutes becomes a series of the first."""

    def __init__(
        self,
        client: Client,
        controller: str,
        *,
        instance: str = "",
        clock: Clock | None = None,
        sender: EventSink | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._controller = controller
        self._instance = instance or f"{controller}-{socket.gethostname()}"
        self._names = Names()
        self._known: dict[Any, Object] = {}
        self._sweeping = False
        self.sender: EventSink = sender or Sender(client, self._clock)

    def event(
        self,
        regarding: Object,
        type: str,
        reason: str,
        action: str,
        note: str,
        *,
        related: Object | None = None,
    ) -> None:
        """Report an event about an object, and about a related one if there is one."""
        now = self._clock.now()
        about = reference(regarding)
        other = reference(related) if related is not None else None
        key = (type, action, reason, tuple(about.items()), tuple(other.items()) if other else ())
        known = self._known.get(key)
        if known is not None:
            first = "series" not in known
            count = 2 if first else known["series"]["count"] + 1
            known["series"] = {"count": count, "lastObservedTime": rfc3339.micro(now)}
            known["seen"] = self._clock.monotonic()
            if first:  # the final count is written when the series has ended
                self._send(known)
            return
        event: Object = {
            "metadata": {
                "name": self._names.make(about.get("name", ""), now),
                "namespace": about.get("namespace") or "default",
            },
            "eventTime": rfc3339.micro(now),
            "reportingController": self._controller,
            "reportingInstance": self._instance,
            "action": action,
            "reason": reason,
            "regarding": about,
            "note": note[:1024],
            "type": type,
        }
        if other is not None:
            event["related"] = other
        began = self._clock.monotonic()
        self._known[key] = {"event": event, "seen": began, "sent": began}
        self.sender.send(NEW_EVENTS, event, None)
        self._schedule()

    def _send(self, known: Object) -> None:
        known["sent"] = self._clock.monotonic()
        event = {**known["event"], "series": known["series"]}
        self.sender.send(NEW_EVENTS, event, {"series": known["series"]})

    def _schedule(self) -> None:
        if not self._sweeping and self._known:
            self._sweeping = True
            self._clock.call_later(_SERIES_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Write the counts of series that have ended or go on for long, and forget those that have ended."""
        self._sweeping = False
        now = self._clock.monotonic()
        for key, known in list(self._known.items()):
            ended = now - known["seen"] >= _SERIES_SECONDS
            if "series" in known and (ended or now - known["sent"] >= _REFRESH_SECONDS):
                self._send(known)
            if ended:
                del self._known[key]
        self._schedule()
