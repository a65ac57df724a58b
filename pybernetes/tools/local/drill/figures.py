"""What clients saw during a drill, and the figures that follow from it: pure functions of records."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pybernetes.api.errors import StatusError
from pybernetes.tools.local.drill.linearizability import DONE, SWAP, UNKNOWN, Operation, violation

INITIAL = "0/nobody"
# What a server may answer while it cannot reach etcd, if it says when to ask again.
_EXCUSED = frozenset({"503", "504"})
_WITHOUT_RETRY = " without Retry-After"
_EXPIRED = "410"


def value(count: int, writer: str) -> str:
    """Return what a counter holds: how often it was changed, and by which write the last time."""
    return f"{count}/{writer}"


def count_of(text: str) -> int:
    """Return how often a counter was changed."""
    return int(text.partition("/")[0])


def error_name(error: Exception) -> str:
    """Return under what an error is counted: the code of an answer, or what ended a connection."""
    if not isinstance(error, StatusError):
        return type(error).__name__
    asked_back = error.code < 500 or error.retry_after
    return f"{error.code}" if asked_back else f"{error.code}{_WITHOUT_RETRY}"


@dataclass(frozen=True, slots=True)
class Event:
    """A change that a watch showed, or what was ``listed`` where the server had said that its history is gone."""

    counter: str
    version: str
    value: str
    listed: bool = False


@dataclass(slots=True)
class Record:
    """What happened between two moments: operations by counter, events by watch, and what was there at the end."""

    begin: float = 0.0
    end: float = 0.0
    operations: dict[str, list[Operation]] = field(default_factory=dict)
    writers: frozenset[str] = (
        frozenset()
    )  # the clients behind the virtual address, whose writes must not stop
    watches: list[list[Event]] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)  # by status code, or by the name of what failed
    final: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a client cares about."""

    longest_gap: float  # seconds without a successful write
    acknowledged: int
    unanswered: int  # writes whose fate the client does not know
    lost: int
    duplicated: int
    watch_gaps: int
    lists: int  # how often a watch was told to list again
    violations: int  # counters whose history nothing explains
    wrong_answers: int  # errors of servers that no lost quorum excuses
    errors: dict[str, int]

    @property
    def is_good(self) -> bool:
        """Whether nothing happened that must never happen."""
        return not (self.lost or self.duplicated or self.watch_gaps or self.violations or self.wrong_answers)


def figures(record: Record) -> Figures:
    """Return the figures of a record."""
    swaps = [
        operation
        for operations in record.operations.values()
        for operation in operations
        if operation.kind == SWAP
    ]
    done = [operation for operation in swaps if operation.outcome == DONE]
    moments = (operation.end for operation in done if operation.client in record.writers)
    return Figures(
        longest_gap(record.begin, record.end, moments),
        len(done),
        sum(operation.outcome == UNKNOWN for operation in swaps),
        sum(lost(record, counter) for counter in record.operations),
        sum(duplicated(events) for events in record.watches),
        sum(gaps(events) for events in record.watches),
        record.errors[_EXPIRED],
        sum(violation(operations, INITIAL) is not None for operations in record.operations.values()),
        sum(
            number for name, number in record.errors.items() if name.startswith("5") and name not in _EXCUSED
        ),
        dict(sorted(record.errors.items())),
    )


def longest_gap(begin: float, end: float, moments: Iterable[float]) -> float:
    """Return the longest time in which nothing happened."""
    times = [begin, *sorted(moment for moment in moments if begin <= moment <= end), end]
    return max(after - before for before, after in itertools.pairwise(times))


def lost(record: Record, counter: str) -> int:
    """Return how many acknowledged writes are not in what the counter went through."""
    shown = {
        count_of(event.value): event.value
        for events in record.watches
        for event in events
        if event.counter == counter
    }
    final = record.final.get(counter)
    if final is not None:
        shown[count_of(final)] = final
    last = max(shown, default=0)
    missing = 0
    for operation in record.operations[counter]:
        if operation.kind == SWAP and operation.outcome == DONE:
            count = count_of(operation.value)
            if count > last or shown.get(count, operation.value) != operation.value:
                missing += 1
    return missing


def duplicated(events: Iterable[Event]) -> int:
    """Return how many writes took effect more than once: under several versions."""
    versions: dict[tuple[str, str], set[str]] = {}
    for event in events:
        versions.setdefault((event.counter, event.value), set()).add(event.version)
    return sum(len(known) - 1 for known in versions.values())


def gaps(events: Iterable[Event]) -> int:
    """Return how often a watch left out a change without saying so, or showed one again; a list must not go back."""
    last: dict[str, int] = {}
    missing = 0
    for event in events:
        count, before = count_of(event.value), last.get(event.counter, 0)
        if count < before if event.listed else count != before + 1:
            missing += 1
        last[event.counter] = count
    return missing
