"""Changes that take long to read are read beside the event loop, and reach a watch in their order."""

from __future__ import annotations

import threading
from typing import Any

import orjson

from pybernetes.api import registry
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.verbs.event_preparation import EventPreparation
from pybernetes.control_plane.store.protocol import DamagedRecord, Event, Record
from pybernetes.lib.event_loop.off_loop import LARGE
from tests.support import eventually

KIND = Kind(next(kind for kind in registry.builtin() if kind.kind == "ConfigMap"))


def event(revision: int, size: int = 10) -> Event:
    value = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"a": "x" * size}}
    return Event(revision, "/registry/configmaps/a/a", Record("a", orjson.dumps(value), revision), None)


class Watching:
    """What a watch got, and where its changes were read."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.read: list[tuple[int, bool]] = []
        self.held: list[Any] = []
        self.failed: list[Any] = []
        self.preparation = EventPreparation(KIND, self.sink, self.failed.append, None, self.prepare)  # type: ignore[arg-type]

    def sink(self, events: list[Event]) -> None:
        self.got += [event.revision for event in events]
        self.held = [event.record and event.record.view for event in events]

    def prepare(self, event: Event) -> object:
        self.read.append((event.revision, threading.current_thread() is threading.main_thread()))
        assert event.record is not None
        return KIND.shared(event.record)


async def test_small_changes_are_passed_on_at_once() -> None:
    watching = Watching()
    watching.preparation.take([event(1), event(2)])
    assert watching.got == [1, 2] and not watching.read
    assert not watching.preparation.is_busy


async def test_large_changes_are_read_beside_the_loop_and_keep_their_order() -> None:
    watching = Watching()
    watching.preparation.take([event(1), event(2, LARGE)])
    watching.preparation.take([event(3)])  # which waits for its turn
    assert watching.got == [] and watching.preparation.is_busy  # so that no bookmark says otherwise
    await eventually(lambda: watching.got == [1, 2, 3])
    assert watching.read == [(2, False)]
    await eventually(lambda: not watching.preparation.is_busy)
    watching.preparation.take([event(4)])
    assert watching.got == [1, 2, 3, 4]


async def test_what_was_read_is_there_when_the_watch_gets_it() -> None:
    watching = Watching()
    watching.preparation.take([event(1, LARGE)])
    await eventually(lambda: watching.got == [1])
    (view,) = watching.held
    assert view.object is not None


async def test_what_is_damaged_is_the_watchs_matter() -> None:
    watching = Watching()
    damaged = Event(1, "k", DamagedRecord("k", 1, "it is no object"), None)
    watching.preparation.take([damaged, event(2, LARGE)])
    assert watching.got == [1, 2] and not watching.read
