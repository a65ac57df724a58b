"""Which events are worth a write: repeated ones are counted, similar ones combined, and a flood is dropped.

The numbers are upstream's: ten different messages for one reason within ten minutes are combined, and a source
may report 25 events about an object at once and one more every five minutes.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.api.validation.names import dns_subdomain
from pybernetes.client.rate_limiter import RateLimiter
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock

COMBINE_FROM = 10
COMBINE_SECONDS = 600
BURST = 25
RATE = 1 / 300
# Each of many controllers remembers that many objects; those that are gone are swept out when there are twice as many as
# were left the last time.
_REMEMBERED = 1024
_LEAST_SWEPT = 16
# After that an event is written anew: the one before it is about to expire.
_KNOWN_SECONDS = 3000
# What of an object its events are told apart by.
Source = tuple[Any, ...]


class Known(NamedTuple):
    """What is needed of an event to count it once more."""

    name: str
    first_timestamp: str
    times: int
    at: float


class _Reported:
    """What a source reported about one object."""

    __slots__ = ("alike", "at", "known", "limiter")

    def __init__(self, limiter: RateLimiter) -> None:
        self.limiter = limiter
        self.at = 0.0
        self.alike: dict[
            str, tuple[set[int], float]
        ] = {}  # marks of the messages of a reason, and the last one's time
        self.known: dict[int, Known] = {}  # by the mark of reason, message and place


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


def _source(event: Object) -> Source:
    about = event["involvedObject"]
    return (
        event["type"], about.get("kind"), about.get("apiVersion"), about.get("namespace"), about.get("name"),
        about.get("uid"),
    )  # fmt: skip


def _always_there(about: Object) -> bool:
    return False


class Correlator:
    """Looks at events of one component in the order in which they happen.

    ``is_gone`` tells of what an event is about whether it does not exist any more: nobody will report on it again.
    """

    def __init__(
        self, clock: Clock, names: Names | None = None, is_gone: Callable[[Object], bool] = _always_there
    ) -> None:
        self._clock = clock
        self._names = names or Names()
        self._is_gone = is_gone
        self._reported: OrderedDict[Source, _Reported] = OrderedDict()
        self._room = _LEAST_SWEPT

    def __len__(self) -> int:
        return len(self._reported)

    def correlate(self, event: Object) -> tuple[Object, bool] | None:
        """Return the event to write and whether it already exists and is only counted; None to drop it."""
        reported = self._remember(_source(event))
        if not reported.limiter.take():
            return None
        event, mark = self._combine(event, reported)
        return self._count(event, mark, reported)

    def _remember(self, source: Source) -> _Reported:
        """Return what was reported about an object; drop what was not used for too long, is gone or too much."""
        entries, now = self._reported, self._clock.monotonic()
        reported = entries.get(source)
        if reported is None:
            if len(entries) >= self._room:
                self._sweep()
            reported = entries[source] = _Reported(RateLimiter(RATE, BURST, self._clock))
        reported.at = now
        entries.move_to_end(source)
        while len(entries) > _REMEMBERED or next(iter(entries.values())).at < now - BURST / RATE:
            entries.popitem(last=False)
        return reported

    def _sweep(self) -> None:
        fields = ("kind", "apiVersion", "namespace", "name")
        for source in list(self._reported):
            if self._is_gone(dict(zip(fields, source[1:5], strict=True))):
                del self._reported[source]
        self._room = max(_LEAST_SWEPT, 2 * len(self._reported))

    def _combine(self, event: Object, reported: _Reported) -> tuple[Object, int]:
        """Combine events that differ in their message only into one."""
        reason, message, now = event["reason"], event["message"], self._clock.now()
        messages, last = reported.alike.get(reason) or (set(), now)
        if now - last > COMBINE_SECONDS:
            messages = set()
        messages.add(hash(message))
        reported.alike[reason] = (messages, now)
        if len(messages) < COMBINE_FROM:
            return event, hash((event["involvedObject"].get("fieldPath", ""), reason, message))
        messages.pop()  # the set need not grow
        combined = {**event, "message": f"(combined from similar events): {message}"}
        combined["metadata"] = {
            **event["metadata"],
            "name": self._names.make(event["involvedObject"].get("name", ""), now),
        }
        return combined, hash(reason)

    def _count(self, event: Object, mark: int, reported: _Reported) -> tuple[Object, bool]:
        """Count an event that has happened before instead of writing another."""
        now, known = self._clock.monotonic(), reported.known.get(mark)
        if known is not None and known.at < now - _KNOWN_SECONDS:
            known = None
        if known is not None:
            event = {
                **event,
                "metadata": {**event["metadata"], "name": known.name},
                "firstTimestamp": known.first_timestamp,
                "count": known.times + 1,
                "lastTimestamp": rfc3339.seconds(self._clock.now()),
            }
        reported.known[mark] = Known(event["metadata"]["name"], event["firstTimestamp"], event["count"], now)
        return event, known is not None
