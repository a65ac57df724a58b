"""Figures of what clients saw."""

from __future__ import annotations

from collections import Counter

from pybernetes.api.errors import StatusError
from pybernetes.tools.local.drill.figures import (
    INITIAL,
    Event,
    Figures,
    Record,
    error_name,
    figures,
    gaps,
    longest_gap,
)
from pybernetes.tools.local.drill.linearizability import DONE, SWAP, UNKNOWN, Operation


def swap(end: float, expected: str, value: str, outcome: str = DONE, client: str = "a") -> Operation:
    return Operation(client, SWAP, end - 0.1, end, value, expected, outcome)


def record(operations: list[Operation], values: list[str], errors: dict[str, int] | None = None) -> Record:
    events = [Event("c", str(version), value) for version, value in enumerate(values[1:], 100)]
    return Record(
        0.0, 10.0, {"c": operations}, frozenset({"a"}), [events], Counter(errors or {}), {"c": values[-1]}
    )


def test_a_good_drill() -> None:
    operations = [swap(1, INITIAL, "1/a1"), swap(4, "1/a1", "2/b1", client="b"), swap(8.5, "2/b1", "3/a2")]
    seen = figures(record(operations, [INITIAL, "1/a1", "2/b1", "3/a2"], {"503": 4, "TimeoutError": 1}))
    assert seen == Figures(7.5, 3, 0, 0, 0, 0, 0, 0, 0, {"503": 4, "TimeoutError": 1})
    assert seen.is_good


def test_a_lost_write_is_seen() -> None:
    operations = [swap(1, INITIAL, "1/a1"), swap(2, INITIAL, "1/b1", client="b")]
    seen = figures(record(operations, [INITIAL, "1/b1"]))
    assert (seen.lost, seen.violations, seen.is_good) == (1, 1, False)
    seen = figures(record([swap(1, INITIAL, "1/a1")], [INITIAL]))
    assert seen.lost == 1


def test_a_write_without_an_answer_is_neither_lost_nor_acknowledged() -> None:
    operations = [swap(1, INITIAL, "1/a1", UNKNOWN), swap(2, "1/a1", "2/a2")]
    seen = figures(record(operations, [INITIAL, "1/a1", "2/a2"]))
    assert (seen.acknowledged, seen.unanswered, seen.lost, seen.violations) == (1, 1, 0, 0)


def test_watches_that_leave_out_or_repeat_are_seen() -> None:
    operations = [swap(1, INITIAL, "1/a1"), swap(2, "1/a1", "2/a2")]
    assert figures(record(operations, [INITIAL, "2/a2"])).watch_gaps == 1
    repeated = figures(record(operations, [INITIAL, "1/a1", "1/a1", "2/a2"]))
    assert (repeated.watch_gaps, repeated.duplicated) == (1, 1)


def test_a_list_after_a_lost_history_is_no_gap_unless_it_goes_back() -> None:
    listed = Event("c", "9", "5/x", listed=True)
    assert gaps([Event("c", "1", "1/a"), listed, Event("c", "10", "6/y")]) == 0
    assert gaps([Event("c", "1", "1/a"), listed, Event("c", "11", "7/y")]) == 1
    assert gaps([listed, Event("c", "8", "4/y", listed=True)]) == 1


def test_answers_that_nothing_excuses_are_counted() -> None:
    seen = figures(record([], [INITIAL], {"500": 2, "503": 1, "409": 3, "NotSent": 9}))
    assert (seen.wrong_answers, seen.is_good) == (2, False)
    errors = (StatusError(503, "ServiceUnavailable", "", {"retryAfterSeconds": 1}), StatusError(503, "", ""))
    seen = figures(record([], [INITIAL], dict.fromkeys(map(error_name, errors), 1)))
    assert seen.errors == {"503": 1, "503 without Retry-After": 1} and seen.wrong_answers == 1
    assert [error_name(error) for error in (StatusError(409, "", ""), TimeoutError())] == [
        "409",
        "TimeoutError",
    ]


def test_the_longest_gap_counts_from_the_begin_to_the_end() -> None:
    assert longest_gap(0, 10, []) == 10
    assert longest_gap(0, 10, [4, 5]) == 5
    assert longest_gap(0, 10, [20, 1, 9]) == 8
