"""How much longer twice the input takes: what is linear takes about twice as long.

Only the processor time of the calling thread counts, the best of several runs, so that a loaded machine does not matter.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from pybernetes.api.errors import StatusError
from pybernetes.api.patch.json_patch import DoesNotApply

# n log n is 2.2 for the sizes that are measured; caches of the processor that overflow add to that.
MOST_GROWTH = 2.6
# Below this much a measurement is noise.
_LEAST_SECONDS = 0.005
_RUNS, _TRIES = 2, 5
# Of how many parts an input is at most; what takes no measurable time then needs no measuring.
LARGEST = 1 << 17


class Input(NamedTuple):
    """One thing that others can send: ``make`` gives an input of a size, ``take`` does what the program does with it.

    ``take`` may change the input and may refuse it: every run gets an input of its own. Sizes start with ``start``
    and end with ``largest``; a size is the number of repetitions of something, not of bytes.
    """

    name: str
    make: Callable[[int], Any]
    take: Callable[[Any], Any]
    start: int = 256
    largest: int = LARGEST


def seconds(input_: Input, size: int, runs: int = _RUNS) -> float:
    """Return the processor time that an input of a size takes, the best of several runs."""
    best = float("inf")
    collects = gc.isenabled()
    gc.disable()
    try:
        for _ in range(runs):
            made = input_.make(size)
            start = time.thread_time()
            try:
                input_.take(made)
            except (ValueError, StatusError, DoesNotApply) as error:  # a refusal is an answer, too
                del error
            best = min(best, time.thread_time() - start)
    finally:
        if collects:
            gc.enable()
    return best


def growth(input_: Input) -> float:
    """Return how much longer twice the input takes; 1.0 if the largest input takes no time that can be measured."""
    size = input_.start
    while seconds(input_, size, 1) < _LEAST_SECONDS:
        size *= 2
        if 2 * size > input_.largest:
            return 1.0
    ratio = float("inf")
    for _ in range(_TRIES):
        ratio = min(ratio, seconds(input_, 2 * size) / seconds(input_, size))
        if ratio <= MOST_GROWTH:
            break
    return ratio
