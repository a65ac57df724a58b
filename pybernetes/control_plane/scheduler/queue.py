"""Pods that wait for a node: those to schedule next, those that back off after a failure, and those that wait for an
event. Pure: the time is passed in.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pybernetes.scheduling.cluster_events import NODE, TARGET_POD, Action, Event, Hint, Interest, pod_actions
from pybernetes.scheduling.plugin import Plugin
from pybernetes.scheduling.pods import Pod, Shape

ACTIVE, BACKOFF, UNSCHEDULABLE, GATED = "active", "backoff", "unschedulable", "gated"
QUEUES = (ACTIVE, BACKOFF, UNSCHEDULABLE, GATED)
ADDED, FAILED, BACKOFF_DONE, TIMEOUT, ACTIVATED = (
    "UnscheduledPodAdd", "ScheduleAttemptFailure", "BackoffComplete", "UnschedulableTimeout", "ForceActivate",
)  # fmt: skip
# Stands for the plugins of a pod that failed because there are no nodes at all.
NO_NODES = ""
# Pods whose waiting ends within the same second come in the order of their priority.
_WINDOW = 1.0


class Queued:
    """A pod, and its history in the queue."""

    __slots__ = ("attempts", "choice", "decided", "errors", "failures", "first", "held", "missed", "plugins", "pod", "queue", "since",
                 "taken", "token", "until")  # fmt: skip

    def __init__(self, pod: Pod, now: float) -> None:
        self.pod = pod
        self.queue = ""
        self.since = now  # when it came or last failed
        self.first: float | None = None  # when it was first ready to be looked at
        self.attempts = 0
        self.taken = 0.0  # when it was last looked at
        self.decided = 0.0  # when its node was chosen,
        self.choice: tuple[int, int, float] = (
            0,
            0,
            0.0,
        )  # among how many nodes, how many would do, seconds for scores
        self.failures = 0
        self.errors = 0  # one after the other
        self.plugins: frozenset[str] = frozenset()  # who turned it away
        self.until = 0.0  # when its backoff ends
        self.token = 0  # tells a valid entry of a heap from one that is left over
        self.held = False  # room is being made for it
        self.missed = False  # it would have been moved while it was held


GroupKey = tuple[Shape, frozenset[str]]


class Queue:
    """The queues of all profiles."""

    def __init__(
        self,
        now: Callable[[], float],
        plugins: Mapping[str, Iterable[Plugin]],
        sort_key: Callable[[Pod, float], tuple[Any, ...]],
        *,
        initial_backoff: float = 1.0,
        max_backoff: float = 10.0,
        max_unschedulable: float = 300.0,
    ) -> None:
        self._now = now
        self._sort_key = sort_key
        self._initial, self._max, self._max_unschedulable = initial_backoff, max_backoff, max_unschedulable
        self._pods: dict[str, Queued] = {}  # by uid
        self._active: list[tuple[tuple[Any, ...], int, Queued]] = []
        self._backoff: list[tuple[float, tuple[Any, ...], int, Queued]] = []
        self._errors: list[tuple[float, tuple[Any, ...], int, Queued]] = []  # after an error, not a refusal
        self._order = itertools.count(1)
        self._waiting: dict[str, Queued] = {}  # the unschedulable ones, who waits longest first
        # Pods of one shape that the same plugins turned away get the same hints.
        self._groups: dict[GroupKey, dict[str, Queued]] = {}
        self._by_plugin: dict[str, set[GroupKey]] = {}
        self.weight = 0  # the bytes of what the pods that wait ask for: changes are held against them
        self._interests = {name: _interests(profile_plugins) for name, profile_plugins in plugins.items()}
        self._listening: dict[tuple[str, int], frozenset[str]] = {}
        self.counts: Counter[str] = Counter(dict.fromkeys(QUEUES, 0))
        self.incoming: Counter[tuple[str, str]] = Counter()  # by event and queue
        self.wake: Callable[[], None] = lambda: None  # called when a pod becomes ready

    def __len__(self) -> int:
        return len(self._pods)

    def get(self, uid: str) -> Queued | None:
        """Return a pod of any queue, or one that is being scheduled."""
        return self._pods.get(uid)

    def refused(self) -> dict[tuple[str, str], int]:
        """Return how many waiting pods each plugin turned away, by plugin and profile."""
        counts: Counter[tuple[str, str]] = Counter()
        for (shape, plugins), group in list(self._groups.items()):
            for plugin in plugins:
                counts[plugin, shape.scheduler] += len(group)
        return counts

    # -- pods come, change and go ------------------------------------------------------------------------

    def add(self, pod: Pod) -> None:
        """Add a new pod."""
        queued = self._pods[pod.uid] = Queued(pod, self._now())
        self._to_active(queued, ADDED)

    def update(self, pod: Pod) -> None:
        """Update a pod, or add it if it is new."""
        queued = self._pods.get(pod.uid)
        if queued is None:
            self.add(pod)
            return
        old = queued.pod
        waits = queued.queue in (UNSCHEDULABLE, GATED)
        if waits:
            self._leave(queued)
        queued.pod = pod
        if not waits:
            if queued.queue == ACTIVE and old.priority != pod.priority:
                self._push_active(queued)
            return
        for action in pod_actions(old, pod):
            event = Event(TARGET_POD, action, old, pod)
            if (not queued.plugins and queued.failures + queued.errors > 0) or self._wants(queued, event):
                self._requeue(queued, event.label)
                return
        self._wait(queued, "")

    def delete(self, uid: str) -> None:
        """Remove a pod."""
        queued = self._pods.pop(uid, None)
        if queued is not None:
            self._leave(queued)

    # -- the pod to look at next -------------------------------------------------------------------------

    def pop(self) -> Queued | None:
        """Return the next pod to schedule; with nothing else to do, one that is still backing off."""
        self.flush()
        while self._active:
            _, token, queued = heapq.heappop(self._active)
            if queued.token == token and queued.queue == ACTIVE:
                return self._taken(queued)
        while self._backoff:
            _, _, token, queued = heapq.heappop(self._backoff)
            if queued.token == token and queued.queue == BACKOFF:
                return self._taken(queued)
        return None

    def _taken(self, queued: Queued) -> Queued:
        self._leave(queued)
        queued.attempts += 1
        queued.taken = self._now()
        return queued

    def done(self, queued: Queued) -> None:
        """Remove a popped pod that is on its way to a node."""
        if not queued.queue and self._pods.get(queued.pod.uid) is queued:
            del self._pods[queued.pod.uid]

    def put_back(self, queued: Queued) -> None:
        """Take a pod again that was on its way to a node, as if it had just been popped."""
        self._pods.setdefault(queued.pod.uid, queued)

    def failed(self, queued: Queued, plugins: Iterable[str]) -> None:
        """Let a popped pod that fits nowhere wait for an event that these plugins are interested in."""
        if self._pods.get(queued.pod.uid) is not queued:
            return  # it was deleted meanwhile
        queued.plugins = frozenset(plugins) or frozenset((NO_NODES,))
        queued.failures += 1
        queued.errors = 0
        queued.since = self._now()
        queued.until = self._backoff_end(queued)
        self._wait(queued, FAILED)

    def erred(self, queued: Queued) -> None:
        """Let a popped pod be tried again after an error, which says nothing about the pod."""
        known = self._pods.setdefault(queued.pod.uid, queued)
        if known is not queued:
            return
        queued.plugins = frozenset()
        queued.errors += 1
        queued.since = self._now()
        queued.until = self._backoff_end(queued)
        self._to_backoff(queued, FAILED)

    # -- something happened ------------------------------------------------------------------------------

    def move(self, event: Event, only: Callable[[Pod], bool] | None = None) -> None:
        """Move the pods that an event may make fit."""
        if not self._groups:
            return
        keys: set[GroupKey] = set()
        for plugin in self._interested(event.resource, event.action):
            keys |= self._by_plugin.get(plugin, set())
        for key in keys:
            group = self._groups[key]
            first = next(iter(group.values()))
            if not self._wants(first, event):
                continue
            for queued in list(group.values()):
                if only is not None and not only(queued.pod):
                    continue
                if queued.held:
                    queued.missed = True
                    continue
                self._leave(queued)
                self._requeue(queued, event.label)

    def _interested(self, resource: str, action: int) -> frozenset[str]:
        """Return the plugins of any profile that are interested in such events."""
        plugins = self._listening.get((resource, action))
        if plugins is None:
            plugins = self._listening[resource, action] = frozenset(
                plugin
                for interests in self._interests.values()
                for plugin, actions, _ in interests.get(resource, ())
                if actions & action
            )
        return plugins

    def _wants(self, queued: Queued, event: Event) -> bool:
        pod = queued.pod
        for plugin, actions, hint in self._interests.get(pod.shape.scheduler, {}).get(event.resource, ()):
            if actions & event.action and plugin in queued.plugins:
                if hint is None or hint(pod, event.old, event.new):
                    return True
        return False

    def activate(self, uid: str) -> None:
        """Make a pod ready now, whatever it waits for."""
        queued = self._pods.get(uid)
        if queued is not None and queued.queue in (UNSCHEDULABLE, BACKOFF):
            self._leave(queued)
            self._to_active(queued, ACTIVATED)

    def hold(self, uid: str) -> None:
        """Keep a pod where it is while room is being made for it."""
        queued = self._pods.get(uid)
        if queued is not None:
            queued.held, queued.missed = True, False

    def release(self, uid: str, failed: bool) -> None:
        """End a hold; what would have moved the pod meanwhile, or a failure, moves it now."""
        queued = self._pods.get(uid)
        if queued is None or not queued.held:
            return
        queued.held = False
        if failed or queued.missed:
            self.activate(uid)

    # -- time passes -------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Move the pods that have waited long enough."""
        now = math.floor(self._now() / _WINDOW) * _WINDOW
        for heap in (self._backoff, self._errors):
            while heap and heap[0][0] < now:
                _, _, token, queued = heapq.heappop(heap)
                if queued.token == token and queued.queue == BACKOFF:
                    self._leave(queued)
                    self._to_active(queued, BACKOFF_DONE)
        limit = self._now() - self._max_unschedulable
        for queued in list(
            itertools.takewhile(lambda waiting: waiting.since < limit, self._waiting.values())
        ):
            queued.since = self._now()
            if queued.held:
                self._waiting[queued.pod.uid] = self._waiting.pop(queued.pod.uid)
            else:
                self._leave(queued)
                self._requeue(queued, TIMEOUT)

    def next_flush(self) -> float | None:
        """Return when ``flush`` will have something to do; None if only an event can change anything."""
        moments = [heap[0][0] + _WINDOW for heap in (self._backoff, self._errors) if heap]
        if self._waiting:
            moments.append(next(iter(self._waiting.values())).since + self._max_unschedulable + _WINDOW)
        return min(moments, default=None)

    # -- between the queues ------------------------------------------------------------------------------

    def _backoff_end(self, queued: Queued) -> float:
        """Return when the backoff ends: doubled with each failure up to a limit, and cut to whole seconds."""
        count = queued.errors or queued.failures
        seconds = min(self._max, self._initial * 2 ** min(count - 1, 32)) if count else 0.0
        return math.floor((queued.since + seconds) / _WINDOW) * _WINDOW

    def _requeue(self, queued: Queued, event: str) -> None:
        if queued.failures + queued.errors and queued.until >= math.floor(self._now() / _WINDOW) * _WINDOW:
            self._to_backoff(queued, event)
        else:
            self._to_active(queued, event)

    def _enter(self, queued: Queued, queue: str, event: str) -> None:
        queued.queue = queue
        self.counts[queue] += 1
        if event:
            self.incoming[event, queue] += 1

    def _leave(self, queued: Queued) -> None:
        if not queued.queue:
            return
        self.counts[queued.queue] -= 1
        if queued.queue == UNSCHEDULABLE:
            uid = queued.pod.uid
            del self._waiting[uid]
            key = queued.pod.shape, queued.plugins
            group = self._groups[key]
            del group[uid]
            if not group:
                del self._groups[key]
                self.weight -= key[0].weight
                for plugin in queued.plugins:
                    self._by_plugin[plugin].discard(key)
        queued.queue = ""

    def _push_active(self, queued: Queued) -> None:
        queued.token = next(self._order)
        heapq.heappush(self._active, (self._sort_key(queued.pod, queued.since), queued.token, queued))

    def _to_active(self, queued: Queued, event: str) -> None:
        if queued.pod.gates:
            self._enter(queued, GATED, event)
            queued.plugins = frozenset(("SchedulingGates",))
            return
        if queued.first is None:
            queued.first = self._now()
        self._push_active(queued)
        self._enter(queued, ACTIVE, event)
        self.wake()

    def _to_backoff(self, queued: Queued, event: str) -> None:
        queued.token = next(self._order)
        heap = self._backoff if queued.plugins else self._errors
        key = self._sort_key(queued.pod, queued.since)
        heapq.heappush(heap, (queued.until, key, queued.token, queued))
        self._enter(queued, BACKOFF, event)
        self.wake()

    def _wait(self, queued: Queued, event: str) -> None:
        if queued.pod.gates:
            self._enter(queued, GATED, event)
            return
        self._enter(queued, UNSCHEDULABLE, event)
        uid, key = queued.pod.uid, (queued.pod.shape, queued.plugins)
        self._waiting[uid] = queued
        if key not in self._groups:
            self._groups[key] = {}
            self.weight += key[0].weight
        self._groups[key][uid] = queued
        for plugin in queued.plugins:
            self._by_plugin.setdefault(plugin, set()).add(key)


_Interests = dict[str, list[tuple[str, int, "Hint | None"]]]


def _interests(plugins: Iterable[Plugin]) -> _Interests:
    """Return the interests of a profile's plugins by the kind of object."""
    interests: _Interests = {NODE: [(NO_NODES, Action.ADD, None)]}
    for plugin in plugins:
        interest: Interest
        for interest in plugin.interests():
            interests.setdefault(interest.resource, []).append((plugin.name, interest.actions, interest.hint))
    return interests
