"""The checker of histories: known good and bad ones, and random ones whose order is known."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.local.drill.linearizability import (
    DONE,
    READ,
    REFUSED,
    SWAP,
    UNKNOWN,
    Operation,
    violation,
)


def read(begin: float, end: float, value: str) -> Operation:
    return Operation("r", READ, begin, end, value)


def swap(begin: float, end: float, expected: str, value: str, outcome: str = DONE) -> Operation:
    return Operation("w", SWAP, begin, end, value, expected, outcome)


GOOD = {
    "nothing": [],
    "one after the other": [swap(0, 1, "0", "a"), read(2, 3, "a"), swap(4, 5, "a", "b"), read(6, 7, "b")],
    "a read at the same time sees either": [swap(0, 10, "0", "a"), read(1, 2, "0"), read(3, 4, "a")],
    "a lost answer that took effect late": [swap(0, 1, "0", "a", UNKNOWN), read(2, 3, "0"), read(4, 5, "a")],
    "a lost answer that never took effect": [swap(0, 1, "0", "a", UNKNOWN), read(2, 3, "0"), swap(4, 5, "0", "b")],
    "refused since another was faster": [swap(0, 3, "0", "a"), swap(1, 4, "0", "b", REFUSED), read(5, 6, "a")],
}  # fmt: skip
BAD = {
    "a lost write": [swap(0, 1, "0", "a"), read(2, 3, "0")],
    "a read that goes back": [swap(0, 10, "0", "a"), read(1, 2, "a"), read(3, 4, "0")],
    "two swaps of one value": [swap(0, 5, "0", "a"), swap(0, 5, "0", "b")],
    "a value that nobody wrote": [read(0, 1, "x")],
    "refused without a reason": [swap(0, 1, "0", "a", REFUSED), read(2, 3, "0")],
    "a refused swap that took effect": [swap(0, 1, "9", "a", REFUSED), read(2, 3, "a")],
    "before it was written": [read(0, 1, "a"), swap(2, 3, "0", "a")],
}


@pytest.mark.parametrize("name", GOOD)
def test_what_could_have_happened(name: str) -> None:
    assert violation(GOOD[name], "0") is None


@pytest.mark.parametrize("name", BAD)
def test_what_could_not(name: str) -> None:
    assert violation(BAD[name], "0") is not None


def history(seed: int, length: int) -> list[Operation]:
    """Make a history from a true order: every operation has its moment, and begins before and ends after it."""
    chance = random.Random(seed)
    state, result = "0", []
    for number in range(length):
        moment = float(number)
        begin, end = moment - chance.random() * 3, moment + chance.random() * 3
        choice = chance.random()
        if choice < 0.4:
            result.append(read(begin, end, state))
        elif choice < 0.7:
            result.append(swap(begin, end, state, f"v{number}"))
            state = f"v{number}"
        elif choice < 0.8:
            result.append(swap(begin, end, "something else", f"v{number}", REFUSED))
        else:
            result.append(swap(begin, begin, state, f"v{number}", UNKNOWN))
            if chance.random() < 0.5:
                state = f"v{number}"
    return result


@given(st.integers(0, 10_000))
def test_histories_with_a_true_order_are_explained(seed: int) -> None:
    assert violation(history(seed, 40), "0") is None


def test_a_long_history_is_checked_in_time_and_its_flaw_is_found() -> None:
    operations = history(1, 3000)
    assert violation(operations, "0") is None
    done = [operation for operation in operations if operation.kind == SWAP and operation.outcome == DONE]
    last = max(operation.end for operation in operations)
    stale = read(last + 1, last + 2, done[10].value)
    assert violation([*operations, stale], "0") == stale
