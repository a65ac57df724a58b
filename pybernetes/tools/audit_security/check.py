"""A recommendation, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pybernetes.lib.printable import printable
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs

_SHOWN = 5  # names in one finding


class State(StrEnum):
    """How a cluster stands to a recommendation."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"  # a choice that its owner should know of
    MANUAL = "manual"  # nothing here can tell
    NONE = "n/a"  # the thing that it is about does not exist here


class Finding(NamedTuple):
    """What was found, and why it is judged so."""

    state: State
    text: str = ""


@dataclass(frozen=True)
class Check:
    """One recommendation, under its number in the benchmark."""

    number: str
    title: str
    examine: Callable[[ClusterInputs], Finding]


def passed(text: str = "") -> Finding:
    """Return that all is as recommended."""
    return Finding(State.PASS, text)


def nobody(names: Iterable[str], what: str, state: State = State.WARN) -> Finding:
    """Return that no object does what should not be done, or which do."""
    # Names of roles may hold anything, also what commands a terminal.
    distinct = sorted(set(map(printable, names)))
    if not distinct:
        return passed()
    more = f" and {len(distinct) - _SHOWN} more" if len(distinct) > _SHOWN else ""
    return Finding(state, f"{what}: {', '.join(distinct[:_SHOWN])}{more}")


def by_hand(text: str) -> Callable[[ClusterInputs], Finding]:
    """Return an examination that only a person can make."""
    return lambda inputs: Finding(State.MANUAL, text)


def absent(text: str) -> Callable[[ClusterInputs], Finding]:
    """Return that there is nothing here that the recommendation could be about."""
    return lambda inputs: Finding(State.NONE, text)
