"""Which events are worth a write: repeated ones are counted, similar ones combined, and a flood is dropped.

The numbers are upstream's: ten different messages for one reason within ten minutes are combined, and a source
may report 25 events about an object at once and one more every five minutes.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from typing import Any, Generic, TypeVar

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
_REMEMBERED = 4096


class Recent(OrderedDict[Any, Value], Generic[Value]):
    """The most recently used values."""

    def remember(self, key: Any, value: Value) -> None:
        """Keep a value, dropping the least recently used one if there are too many."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > _REMEMBERED:
            self.popitem(last=False)


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
        self._limiters: Recent[RateLimiter] = Recent()
        self._alike: Recent[tuple[set[str], float]] = Recent()
        self._known: Recent[Object] = Recent()

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
        messages, last = self._alike.get(alike, (set(), now))
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
                "metadata": {**event["metadata"], "name": known["metadata"]["name"]},
                "firstTimestamp": known["firstTimestamp"],
                "count": known["count"] + 1,
                "lastTimestamp": rfc3339.seconds(self._clock.now()),
            }
        self._known.remember(key, event)
        return event, known is not None
