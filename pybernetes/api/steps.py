"""The steps of a pod's creation as components tell them: in an annotation of events that they write anyway.

An annotation has a list of steps, each with its name, when it began (seconds since the epoch), how long it took and a
detail: ``[["sandbox",1700000000.123456,0.060123,""]]``. Anybody who may create events can write anything there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import orjson

ANNOTATION = "pybernetes.dev/steps"
# What one annotation may have; more is not written, and not read.
MOST_STEPS = 64
MOST_BYTES = 16 << 10
_LONGEST = 200


class Step(NamedTuple):
    """Something that a component did for a pod, from one moment to another, in seconds since the epoch."""

    name: str
    begin: float
    end: float
    detail: str = ""


def to_text(steps: Iterable[Step]) -> str:
    """Return the annotation that tells these steps."""
    rows = [
        (step.name, round(step.begin, 6), round(step.end - step.begin, 6), step.detail[:_LONGEST])
        for step, _ in zip(steps, range(MOST_STEPS), strict=False)
    ]
    return orjson.dumps(rows).decode()


def from_text(text: object) -> list[Step]:
    """Return the steps that an annotation tells; what is not a step is left out."""
    if not isinstance(text, str) or len(text) > MOST_BYTES:
        return []
    try:
        rows = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    steps = (_step(row) for row in rows[:MOST_STEPS]) if isinstance(rows, list) else ()
    return [step for step in steps if step is not None]


def _step(row: object) -> Step | None:
    if not isinstance(row, list) or len(row) != 4:
        return None
    name, begin, seconds, detail = row
    if not isinstance(name, str) or not isinstance(detail, str) or not name:
        return None
    for number in (begin, seconds):
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            return None
        if not 0 <= number < 1e11:
            return None
    return Step(name[:_LONGEST], float(begin), float(begin) + float(seconds), detail[:_LONGEST])
