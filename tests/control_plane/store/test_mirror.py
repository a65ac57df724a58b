"""The mirror against a naive model: every state kept whole, every watch a filter over all events."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pybernetes.control_plane.store import history as history_module
from pybernetes.control_plane.store import mirror as mirror_module
from pybernetes.control_plane.store import past as past_module
from pybernetes.control_plane.store.history import EVENT_OVERHEAD
from pybernetes.control_plane.store.mirror import Mirror, ancestors, prefix_end
from pybernetes.control_plane.store.protocol import (
    Compacted,
    Event,
    FutureRevision,
    HistoryLimits,
    Record,
    StoreError,
)

keys = st.sampled_from(
    [f"/r/{kind}/{name}" for kind in ("pods/a", "pods/b", "pods", "nodes") for name in ("x", "xy", "z")]
)
prefixes = st.sampled_from(["/r/", "/r/pods/", "/r/pods/a/", "/r/pods/b/", "/r/nodes/", "/r/none/"])
watched = st.one_of(prefixes, keys, st.just(""))


class Watcher:
    """What one watch should have got, and what it got."""

    def __init__(self, prefix: str, revision: int) -> None:
        self.prefix = prefix
        self.revision = revision
        self.seen: list[Event] = []

    def wants(self, event: Event) -> bool:
        if event.revision <= self.revision:
            return False
        if self.prefix == "" or self.prefix.endswith("/"):
            return event.key.startswith(self.prefix)
        return event.key == self.prefix


class MirrorMachine(RuleBasedStateMachine):
    """Random batches, lists, watches and compactions."""

    @initialize(events=st.integers(2, 40), size=st.integers(2_000, 20_000))
    def begin(self, events: int, size: int) -> None:
        self.now = 0.0
        limits = HistoryLimits(seconds=50, bytes=size, events=events)
        self.mirror = Mirror(clock=lambda: self.now, history=limits)
        self.mirror.load([Record("/r/pods/a/x", b"loaded", 90)], 100)
        self.states: dict[int, dict[str, bytes]] = {100: {"/r/pods/a/x": b"loaded"}}
        self.events: list[Event] = []
        self.watchers: list[tuple[Watcher, object]] = []

    @rule(
        batch=st.lists(st.tuples(keys, st.booleans(), st.integers(1, 3)), min_size=1, max_size=5),
        seconds=st.integers(0, 20),
    )
    def change(self, batch: list[tuple[str, bool, int]], seconds: int) -> None:
        self.now += seconds
        revision = self.mirror.revision
        current: dict[str, Record | None] = {}
        events = []
        for key, deletes, step in batch:
            previous = current[key] if key in current else self.mirror.records.get(key)
            if deletes and previous is None:
                continue
            before = self.states[revision]
            for passed in range(revision + 1, revision + step):  # revisions that belong to someone else
                self.states[passed] = before
            revision += step
            record = None if deletes else Record(key, b"%d" % revision, revision)
            current[key] = record
            events.append(Event(revision, key, record, previous))
            after = dict(before)
            if record is None:
                del after[key]
            else:
                after[key] = record.value
            self.states[revision] = after
        if events:
            self.events += events
            self.mirror.apply(events)

    @rule(steps=st.integers(1, 3))
    def pass_by(self, steps: int) -> None:
        revision = self.mirror.revision
        for passed in range(1, steps + 1):
            self.states[revision + passed] = self.states[revision]
        self.mirror.advance(revision + steps)

    @rule(back=st.integers(0, 30))
    def compact(self, back: int) -> None:
        revision = max(0, self.mirror.revision - back)
        before = self.mirror.compacted
        self.mirror.compact(revision)
        assert self.mirror.compacted == max(before, revision)

    @rule(
        prefix=prefixes, back=st.integers(0, 30), limit=st.integers(0, 4), start=st.one_of(st.just(""), keys)
    )
    def list(self, prefix: str, back: int, limit: int, start: str) -> None:
        revision = self.mirror.revision - back
        if revision < self.mirror.compacted:
            with pytest.raises(Compacted):
                self.mirror.list(prefix, revision=revision)
            return
        state = self.states[revision]
        wanted = sorted(key for key in state if key.startswith(prefix) and key >= start)
        page = self.mirror.list(prefix, start=start, limit=limit, revision=revision)
        shown = wanted[:limit] if limit else wanted
        assert [(record.key, record.value) for record in page.records] == [(key, state[key]) for key in shown]
        assert page.revision == revision
        assert page.remaining == len(wanted) - len(shown) and page.more == (page.remaining > 0)

    @rule(prefix=watched, back=st.integers(-3, 30))
    def watch(self, prefix: str, back: int) -> None:
        revision = self.mirror.revision - back
        watcher = Watcher(prefix, revision)
        if revision < self.mirror.compacted:
            with pytest.raises(Compacted):
                self.mirror.watch(prefix, revision, watcher.seen.extend)
        else:
            self.watchers.append((watcher, self.mirror.watch(prefix, revision, watcher.seen.extend)))

    @rule(which=st.integers(0, 100))
    def unwatch(self, which: int) -> None:
        if self.watchers:
            _, handle = self.watchers.pop(which % len(self.watchers))
            handle.close()  # type: ignore[attr-defined]

    @rule()
    def sweep(self) -> None:
        self.mirror._sweep()

    @invariant()
    def watchers_got_everything_once(self) -> None:
        for watcher, _ in getattr(self, "watchers", []):
            assert watcher.seen == [event for event in self.events if watcher.wants(event)]

    @invariant()
    def counts_and_changes_agree(self) -> None:
        if not hasattr(self, "mirror"):
            return
        state = self.states[self.mirror.revision]
        for prefix in ("/r/", "/r/pods/", "/r/pods/a/", "/r/nodes/", "/r/none/"):
            assert self.mirror.count(prefix) == sum(key.startswith(prefix) for key in state)
            last = max((e.revision for e in self.events if e.key.startswith(prefix)), default=0)
            assert last <= self.mirror.changed(prefix) <= self.mirror.revision
        assert len(self.mirror.history) <= self.mirror.history.limits.events


class ManyEventsMachine(MirrorMachine):
    """The same with so little that counts as many that lists of the past are made from copies."""

    @initialize(events=st.integers(2, 40), size=st.integers(2_000, 20_000))
    def begin(self, events: int, size: int) -> None:
        super().begin(events, size)
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(past_module, "MANY", 2)
        self.patched.setattr(history_module, "_FEW", 3)

    @rule(prefix=prefixes, back=st.integers(0, 30), limit=st.integers(0, 4))
    def list_while_others_write(self, prefix: str, back: int, limit: int) -> None:
        revision = self.mirror.revision - back
        if revision < self.mirror.compacted:
            return
        past = self.mirror.past(prefix, "", limit, revision)
        if not past.is_much:
            return
        wanted = [
            (key, value) for key, value in sorted(self.states[revision].items()) if key.startswith(prefix)
        ]
        self.change([("/r/pods/a/x", False, 1), ("/r/pods/b/z", True, 1), ("/r/nodes/z", False, 1)], 0)
        assert [(record.key, record.value) for record in past.page().records] == wanted[: limit or None]

    def teardown(self) -> None:
        if hasattr(self, "patched"):
            self.patched.undo()


MirrorMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestMirror = MirrorMachine.TestCase
ManyEventsMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestManyEvents = ManyEventsMachine.TestCase


def event(mirror: Mirror, key: str, value: bytes | None = b"") -> Event:
    revision = mirror.revision + 1
    record = None if value is None else Record(key, value, revision)
    return Event(revision, key, record, mirror.records.get(key))


def test_ancestors_and_ends() -> None:
    assert list(ancestors("/registry/pods/a/b")) == [
        "/",
        "/registry/",
        "/registry/pods/",
        "/registry/pods/a/",
    ]
    assert prefix_end("/a/") == "/a0" and prefix_end("") is None


def test_history_is_bounded_by_age_size_and_number() -> None:
    now = [0.0]
    for limits, kept in (
        (HistoryLimits(seconds=10), 10),
        (HistoryLimits(bytes=5 * (EVENT_OVERHEAD + 1000)), 5),
        (HistoryLimits(events=3), 3),
    ):
        mirror = Mirror(clock=lambda: now[0], history=limits)
        for number in range(30):
            now[0] += 1
            mirror.apply([event(mirror, f"/r/{number}", b"x" * 1000)])
        assert 30 - mirror.compacted in (kept, kept + 1)


def test_a_sink_may_open_and_close_watches() -> None:
    mirror = Mirror()
    seen: dict[str, list[Event]] = {"first": [], "second": [], "inner": []}

    def first(events: list[Event]) -> None:
        seen["first"] += events
        second.close()
        if len(seen["first"]) == 1:
            mirror.watch("/r/", 0, seen["inner"].extend)

    mirror.watch("/r/", 0, first)
    second = mirror.watch("/r/", 0, seen["second"].extend)
    mirror.apply([event(mirror, "/r/a")])
    mirror.apply([event(mirror, "/r/b")])
    assert [e.key for e in seen["first"]] == ["/r/a", "/r/b"]
    assert seen["second"] == []
    assert [e.key for e in seen["inner"]] == ["/r/b"]


def test_a_failing_sink_ends_only_its_own_watch() -> None:
    mirror = Mirror()
    seen: list[Event] = []
    endings: list[StoreError | None] = []

    def fails(events: list[Event]) -> None:
        raise RuntimeError("sink")

    mirror.watch("/r/", 0, fails, endings.append)
    mirror.watch("/r/", 0, seen.extend)
    mirror.apply([event(mirror, "/r/a")])
    mirror.apply([event(mirror, "/r/b")])
    assert len(seen) == 2 and len(endings) == 1 and isinstance(endings[0], StoreError)


def test_directories_of_deleted_keys_are_swept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_module, "SPARE_NODES", 20)
    mirror = Mirror()
    mirror.apply([event(mirror, "/r/kept/x")])
    mirror.watch("/r/watched/", 0, lambda events: None)
    for number in range(100):
        mirror.apply([event(mirror, f"/r/pods/{number}/x")])
        mirror.apply([event(mirror, f"/r/pods/{number}/x", None)])
    assert len(mirror._nodes) < 50
    assert {"/r/kept/", "/r/watched/"} <= set(mirror._nodes)
    assert mirror.changed("/r/pods/3/") >= 9  # not known any more, so as late as its parent


def test_revisions_out_of_range() -> None:
    mirror = Mirror()
    mirror.load([], 10)
    for revision, error in ((9, Compacted), (11, FutureRevision)):
        with pytest.raises(error):
            mirror.list("/", revision=revision)
    assert mirror.list("/", revision=10).records == []


def test_changes_elsewhere_are_not_taken_for_changes_here() -> None:
    mirror = Mirror()
    mirror.load([Record("/r/pods/a/x", b"{}", 5)], 5)
    assert mirror.changed("/r/none/") == mirror.changed("/r/none/a/") == 5
    created = Event(6, "/r/pods/a/y", Record("/r/pods/a/y", b"{}", 6), None)
    mirror.apply([created])
    assert mirror.changed("/r/none/") == mirror.changed("/r/none/a/") == 5
    assert mirror.changed("/r/pods/") == mirror.changed("/r/") == 6
    mirror.apply([Event(7, "/r/none/a/z", Record("/r/none/a/z", b"{}", 7), None)])
    assert mirror.changed("/r/none/a/") == mirror.changed("/r/none/") == 7
    mirror._sweep()
    assert mirror.changed("/r/none/b/") == 7


def test_a_place_is_kept_and_knows_of_every_change() -> None:
    mirror = Mirror()
    place = mirror.place("/r/pods/")
    mirror._sweep()
    assert mirror.place("/r/pods/") is place
    mirror.apply([Event(3, "/r/nodes/a", Record("/r/nodes/a", b"", 3), None)])
    assert place.changed == 0
    mirror.apply([Event(4, "/r/pods/a/x", Record("/r/pods/a/x", b"", 4), None)])
    assert place.changed == 4
    mirror.load([], 9)
    mirror._sweep()
    assert place.changed == 9 and mirror.place("/r/pods/") is place


def test_directories_that_are_only_asked_about_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_module, "SPARE_NODES", 20)
    mirror = Mirror()
    for number in range(200):
        mirror.changed(f"/r/pods/{number}/")
    assert len(mirror._nodes) < 60


def test_changes_are_counted_by_directory_and_kept_when_one_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_module, "SPARE_NODES", 3)
    mirror = Mirror()
    for revision in range(1, 6):
        key = f"/r/pods/{revision}/x"
        mirror.apply([Event(2 * revision, key, Record(key, b"1", 2 * revision, 2 * revision), None)])
        mirror.apply([Event(2 * revision + 1, key, None, None)])
    key = "/r/pods/last/x"
    mirror.apply([Event(20, key, Record(key, b"1", 20, 20), None)])
    mirror._sweep()
    assert mirror.received() == {"/r/pods/": 10, "/r/pods/last/": 1}
