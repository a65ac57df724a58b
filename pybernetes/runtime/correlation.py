"""Which events are worth a write: repeated ones are counted, similar ones combined, and a flood is dropped.

The numbers are upstream's: ten different messages for one reason within ten minutes are combined, and a source
may report 25 events about an object at once and one more every five minutes.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from typing import Any, Generic, NamedTuple, TypeVar

from pybernetes.api.resource import Object
from pybernetes.api.validation.names import dns_subdomain
from pybernetes.client.rate_limiter import RateLimiter
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock

Value = TypeVar("Value")

COMBINE_FROM = 10
COMBINE_SECONDS = 600
BURST = 25
RATE = 1 / 300
# Each of many controllers remembers that much: what is about objects that are gone must not add up.
_REMEMBERED = 1024
# After that an event is written anew: the one before it is about to expire.
_KNOWN_SECONDS = 3000


class Known(NamedTuple):
    """What is needed of an event to count it once more."""

    name: str
    first_timestamp: str
    times: int


class Recent(Generic[Value]):
    """The most recently used values, up to a number and an age."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self._entries: OrderedDict[Any, tuple[float, Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Any) -> Value | None:
        """Return the value of a key."""
        entry = self._entries.get(key)
        return entry[1] if entry is not None else None

    def remember(self, key: Any, value: Value) -> None:
        """Keep a value, and drop those that were not used for too long or are too many."""
        entries, now = self._entries, self._clock.monotonic()
        entries[key] = (now, value)
        entries.move_to_end(key)
        while len(entries) > _REMEMBERED or next(iter(entries.values()))[0] < now - self._seconds:
            entries.popitem(last=False)


class Names:
    """Names of events, unique by their time even when several happen at once."""

    def __init__(self) -> None:
        self._last = 0

    def make(self, name: str, moment: float) -> str:
        """Return a name for an event about an object."""
        self._last = max(self._last + 1, int(moment * 1_000_000_000))
        event_name = f"{name}.{self._last:x}"
        # Some kinds have names that events cannot have.
        return str(uuid.uuid4()) if dns_subdomain(event_name) else event_name


def _source(event: Object) -> tuple[Any, ...]:
    source, about = event["source"], event["involvedObject"]
    return (
        source.get("component"), source.get("host"), about.get("kind"), about.get("namespace"), about.get("name"),
        about.get("uid"), about.get("apiVersion"), event["type"],
    )  # fmt: skip


class Correlator:
    """Looks at events of the core group in the order in which they happen."""

    def __init__(self, clock: Clock, names: Names | None = None) -> None:
        self._clock = clock
        self._names = names or Names()
        self._limiters: Recent[RateLimiter] = Recent(clock, BURST / RATE)
        self._alike: Recent[tuple[set[str], float]] = Recent(clock, COMBINE_SECONDS)
        self._known: Recent[Known] = Recent(clock, _KNOWN_SECONDS)

    def correlate(self, event: Object) -> tuple[Object, bool] | None:
        """Return the event to write and whether it already exists and is only counted; None to drop it."""
        source = _source(event)
        limiter = self._limiters.get(source) or RateLimiter(RATE, BURST, self._clock)
        self._limiters.remember(source, limiter)
        if not limiter.take():
            return None
        event, key = self._combine(event, source)
        return self._count(event, key)

    def _combine(self, event: Object, source: tuple[Any, ...]) -> tuple[Object, Any]:
        """Combine events that differ in their message only into one."""
        message, now = event["message"], self._clock.now()
        field_path = event["involvedObject"].get("fieldPath", "")
        alike = (source, event["reason"])
        messages, last = self._alike.get(alike) or (set(), now)
        if now - last > COMBINE_SECONDS:
            messages = set()
        messages.add(message)
        self._alike.remember(alike, (messages, now))
        if len(messages) < COMBINE_FROM:
            return event, (source, field_path, event["reason"], message)
        messages.pop()  # the set need not grow
        combined = {**event, "message": f"(combined from similar events): {message}"}
        combined["metadata"] = {
            **event["metadata"],
            "name": self._names.make(event["involvedObject"].get("name", ""), now),
        }
        return combined, alike

    def _count(self, event: Object, key: Any) -> tuple[Object, bool]:
        """Count an event that has happened before instead of writing another."""
        known = self._known.get(key)
        if known is not None:
            event = {
                **event,
                "metadata": {**event["metadata"], "name": known.name},
                "firstTimestamp": known.first_timestamp,
                "count": known.times + 1,
                "lastTimestamp": rfc3339.seconds(self._clock.now()),
            }
        self._known.remember(key, Known(event["metadata"]["name"], event["firstTimestamp"], event["count"]))
        return event, known is not None
