"""A cache that follows the API server: lists once, then watches, and recovers from whatever goes wrong."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, TypeVarTuple, Unpack

from pybernetes.api.resource import Object
from pybernetes.api.selectors import parse_labels
from pybernetes.client.client import Client
from pybernetes.client.errors import Expired, StatusError
from pybernetes.client.refs import Kindlike, as_ref
from pybernetes.client.watch import Watch
from pybernetes.lib.clock import Clock
from pybernetes.lib.unsigned import unsigned
from pybernetes.runtime.cache import Cache, by_namespace, key_of

log = logging.getLogger(__name__)
# Told of every change: (None, new) for a new object, (old, new), (old, None) for one that is gone.
Handler = Callable[["Object | None", "Object | None"], None]
Transform = Callable[[Object], Object]
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")
_FIRST_DELAY = 0.1
_LONGEST_DELAY = 30.0
# A watch ends after 5 to 10 minutes, so that clients spread over several servers.
_WATCH_SECONDS = 300
_SHORT_SECONDS = 1.0
# How servers say that they have no streaming lists.
_NO_STREAMING = (400, 422, 500, 501)
_INITIAL_END = "k8s.io/initial-events-end"


class Informer(Cache):
    """The objects of a kind, kept up to date while ``run`` runs. Handlers are called in the order of changes."""

    def __init__(
        self,
        client: Client,
        kind: Kindlike,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
        transform: Transform | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self.client, self.ref, self.namespace = client, as_ref(kind), namespace
        self.labels, self.fields, self.metadata_only = labels, fields, metadata_only
        self._selector = parse_labels(labels)
        self._transform = transform
        self._clock = clock or Clock()
        self._handlers: list[Handler] = []
        self._synced = asyncio.Event()
        self._streaming = True
        self.resource_version = ""
        self.version = 0  # the same as a number: everything up to it has been seen
        self.lists = 0  # how often everything was fetched
        self.error: Exception | None = None  # why the server cannot be followed at the moment
        self.on_error: Callable[[], None] | None = None  # called when that begins or ends
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, Callable[[], None]]] = []
        self._key_waiting: dict[str, list[Callable[[], None]]] = {}
        self._doubts: list[Callable[[], None]] = []
        self._open: Watch | None = None
        if self.ref.namespaced:
            self.add_index(by_namespace)

    @property
    def synced(self) -> bool:
        """Whether the cache has had all objects of one moment."""
        return self._synced.is_set()

    @property
    def knows_all(self) -> bool:
        """Whether an object of the kind that is not here does not exist, or not any more."""
        return self.synced and not (self.namespace or self.labels or self.fields)

    async def wait_synced(self) -> None:
        """Wait until the cache has had all objects of one moment."""
        await self._synced.wait()

    def add_handler(self, handler: Handler) -> None:
        """Call a function for every change, and now for every object that is already here."""
        self._handlers.append(handler)
        for obj in self.values():
            _call(handler, None, obj)

    # -- what has been seen ------------------------------------------------------------------------------

    def when_seen(self, version: int, callback: Callable[[], None]) -> bool:
        """Call a function once everything up to a version has been seen; return False if it has been already."""
        if self.version >= version:
            return False
        heapq.heappush(self._waiting, (version, next(self._order), callback))
        return True

    def when_changed(self, key: str, callback: Callable[[], None]) -> None:
        """Call a function at the next change of a key, once."""
        self._key_waiting.setdefault(key, []).append(callback)

    def doubt(self, callback: Callable[[], None]) -> None:
        """Fetch everything again, because something should be here that is not; call back after that."""
        self._doubts.append(callback)
        if self._open is not None:
            self._open.close()

    def covers(self, namespace: str, key: str, labels: Mapping[str, str] | None) -> bool:
        """Return whether the last change of an object is certain to come here, given its labels after that."""
        if self.namespace and namespace != self.namespace:
            return False
        if key in self:
            return True
        return not self.fields and self._selector.matches(labels)

    def _seen(self, text: str) -> None:
        if not text:
            return
        self.resource_version = text
        version = unsigned(text) or 0
        back = version < self.version
        self.version = version
        waiting = self._waiting
        # A store that went back in time lost writes that somebody may wait for.
        while waiting and (back or waiting[0][0] <= version):
            heapq.heappop(waiting)[2]()

    # -- changes -----------------------------------------------------------------------------------------

    def _notify(self, key: str, old: Object | None, new: Object | None) -> None:
        for handler in self._handlers:
            try:
                handler(old, new)
            except Exception:
                log.exception("a handler of %s failed at %s", self.ref, key)
        if self._key_waiting:
            for callback in self._key_waiting.pop(key, ()):
                callback()

    def _apply(self, batch: Iterable[tuple[str, Any]]) -> None:
        """Apply a batch of watch events."""
        transform = self._transform
        version = ""
        for type_, obj in batch:
            version = obj["metadata"]["resourceVersion"]
            if type_ == "BOOKMARK":
                continue
            if transform is not None:
                obj = transform(obj)
            key = key_of(obj)
            if type_ == "DELETED":
                if self.remove(key) is not None:
                    self._notify(key, obj, None)
            else:
                self._notify(key, self.put(key, obj), obj)
        self._seen(version)

    def _replace(self, items: dict[str, Object], version: str) -> None:
        """Replace all objects with those of a list."""
        self.lists += 1
        for key in [key for key in self.keys() if key not in items]:
            self._notify(key, self.remove(key), None)
        for key, obj in items.items():
            old = self.get(key)
            if old is None or old["metadata"].get("resourceVersion") != obj["metadata"].get(
                "resourceVersion"
            ):
                self._notify(key, self.put(key, obj), obj)
        self._seen(version)
        self._complete()

    def _complete(self) -> None:
        """Note that everything is here."""
        self._synced.set()
        doubts, self._doubts = self._doubts, []
        for callback in doubts:
            callback()

    # -- the loop ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow the server until cancelled."""
        failures = 0
        while True:
            if self._doubts:
                self.resource_version = ""
            before, started = self.resource_version, self._clock.monotonic()
            try:
                if not self.resource_version and not self._streaming:
                    await self._list()
                await self._watch()
                lasted = self._clock.monotonic() - started >= _SHORT_SECONDS
                if lasted or self.resource_version != before or self._doubts:
                    failures = 0
                    continue
                # A server that ends watches as soon as they are open must not be asked without a pause.
            except Expired:
                self.resource_version = ""
            except StatusError as error:
                if self._lists_instead(error):
                    log.info("watching %s: %s; it is listed instead", self.ref, error)
                    continue
                self._troubled(error)
                self._refused(error)
                self._lost()
                _report(self, failures, error)
            except (OSError, TimeoutError) as error:
                self._troubled(error)
                self._lost()
                if not self._doubts:
                    _report(self, failures, error)
            failures = 0 if self.resource_version != before else failures + 1
            delay = self._delay(failures)
            if delay:
                await self._clock.sleep(delay)

    def forget(self) -> None:
        """Give up what is held for somebody who needs the objects no longer: here, nothing."""

    def _lost(self) -> None:
        """Note that the server could not be followed: one that is trusted is the same when it is back."""

    def _delay(self, failures: int) -> float:
        """Return the seconds before another try."""
        if not failures:
            return 0.0
        return min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** min(failures - 1, 20)) * (0.5 + random.random() / 2)

    def _pause(self, events: int) -> float:
        """Return the seconds for which no more is read after some events; nothing is withheld from one that is trusted."""
        return 0.0

    def _troubled(self, error: Exception | None) -> None:
        """Note why the server cannot be followed, or that it can."""
        turned = (error is None) != (self.error is None)
        self.error = error
        if turned and self.on_error is not None:
            self.on_error()

    def _lists_instead(self, error: StatusError) -> bool:
        """Return whether a server turns out to have no streaming lists: an older one, or one whose store cannot."""
        if self.resource_version or not self._streaming or error.code not in _NO_STREAMING:
            return False
        self._streaming = False
        return True

    def _refused(self, error: StatusError) -> None:
        if self.resource_version and error.code in (410, 504):
            self.resource_version = (
                ""  # the server has forgotten the version, or went back in time and does not know it
            )

    async def _list(self) -> None:
        page = await self.client.list(
            self.ref, self.namespace, labels=self.labels, fields=self.fields, metadata_only=self.metadata_only
        )
        await self._turn(page.items, self._take_list, page.items, page.resource_version)

    def _take_list(self, items: list[Object], version: str) -> None:
        kept = items if self._transform is None else map(self._transform, items)
        self._replace({key_of(obj): obj for obj in kept}, version)

    async def _turn(
        self,
        objects: Iterable[Object],
        function: Callable[[Unpack[Arguments]], Result],
        *args: *Arguments,
    ) -> Result:
        """Call a function that takes objects in."""
        return function(*args)

    async def _watch(self) -> None:
        """Run one watch, which begins with all objects if there is no version to go on from."""
        collected: dict[str, Object] | None = None if self.resource_version else {}
        watch = self.client.watch(
            self.ref, self.namespace, labels=self.labels, fields=self.fields, metadata_only=self.metadata_only,
            resource_version=self.resource_version, initial=collected is not None,
            timeout=int(_WATCH_SECONDS * (1 + random.random())),
        )  # fmt: skip
        self._open = watch
        async with watch:
            while batch := await watch.batch():
                collected = await self._turn((obj for _, obj in batch), self._take, batch, collected)
                pause = self._pause(len(batch))
                if self.error is not None and collected is None:
                    self._troubled(None)
                batch.clear()  # objects that are gone are not kept until there is another batch
                if pause:
                    await self._clock.sleep(pause)

    def _take(
        self, batch: list[tuple[str, Any]], collected: dict[str, Object] | None
    ) -> dict[str, Object] | None:
        """Take in a batch; return what of a streaming list is collected so far, None when that is complete."""
        if collected is None:
            self._apply(batch)
            return None
        end = self._collect(batch, collected)
        if end is None:
            return collected
        self._replace(collected, batch[end][1]["metadata"]["resourceVersion"])
        self._apply(batch[end + 1 :])
        return None

    def _collect(self, batch: list[tuple[str, Any]], collected: dict[str, Object]) -> int | None:
        """Collect the objects of a streaming list; return the position of its end, if that is in the batch."""
        transform = self._transform
        for position, (type_, obj) in enumerate(batch):
            if type_ == "BOOKMARK":
                if (obj["metadata"].get("annotations") or {}).get(_INITIAL_END) == "true":
                    return position
                continue
            if transform is not None:
                obj = transform(obj)
            if type_ == "DELETED":
                collected.pop(key_of(obj), None)
            else:
                collected[key_of(obj)] = obj
        return None


def _call(handler: Handler, old: Object | None, new: Object | None) -> None:
    try:
        handler(old, new)
    except Exception:
        log.exception("a handler failed")


def _report(informer: Informer, failures: int, error: Exception) -> None:
    """Log a failed watch: the first failure as a warning, the following ones for debugging."""
    level = logging.DEBUG if failures else logging.WARNING
    log.log(level, "watching %s: %s; trying again", informer.ref, error)
