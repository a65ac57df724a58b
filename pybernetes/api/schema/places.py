"""Places in an object that is being read: cheap to make for every value, and turned into text only for complaints.

A place is the place around it and the last step, or None for the object itself. A step is the name of a field, the
number of an item, or the key of a map in a tuple of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Place = Any
# How many unknown or duplicate fields are told of, as upstream, and how many are looked at for that.
MAX_COMPLAINTS, MAX_NOTED = 100, 10_000
# How long all paths of one report may be together: each can be as long as what was sent.
MAX_BYTES = 256 << 10


def steps(place: Place) -> list[str | int]:
    """Return the steps that lead to a place."""
    result: list[str | int] = []
    while place is not None:
        place, step = place
        result.append(step[0] if type(step) is tuple else step)
    result.reverse()
    return result


def text(place: Place) -> str:
    """Return a place as errors and warnings write it."""
    parts = [f"[{step}]" if type(step) is int else f".{step}" for step in steps(place)]
    return "".join(parts).lstrip(".")


def texts(places: Iterable[Place]) -> list[str]:
    """Return the texts of places, as many as one report takes."""
    result, size = [], 0
    for place in places:
        if size > MAX_BYTES:
            break
        result.append(text(place))
        size += len(result[-1])
    return result


def below(place: Place, inner: Place) -> Place:
    """Return where something is that was found at a place inside of a place."""
    for step in steps(inner):
        place = (place, step)
    return place
