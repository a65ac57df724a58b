"""How much longer twice the input takes: what is linear takes about twice as long.

Only the processor time of the calling thread counts, the best of several runs. One doubling may cost more than its share
(the caches of the processor overflow, a table moves, memory is fetched from the system), on a machine that others use even
more so: the mean of several doublings counts, of more of them as long as the last one was slow, and what is too slow is
measured again. What is quadratic comes to four and stays there, however far it is followed.

Where others use all of the processor's caches, twice of anything takes nearly three times as long once it is larger than
what is left of them. What is still too slow is therefore compared to work that is linear for certain, at the same time.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from pybernetes.api.errors import StatusError
from pybernetes.api.patch.json_patch import DoesNotApply

# n log n is 2.2 for the sizes that are measured.
MOST_GROWTH = 2.6
# The shortest time that is measured, and the longest: no larger input is tried after it.
_LEAST_SECONDS, _MOST_SECONDS = 0.0005, 0.2
# Of how many doublings the mean is taken at least and at most, and how often all of it is measured before it is too slow.
_DOUBLINGS, _MOST_DOUBLINGS, _ROUNDS = 4, 8, 5
_RUNS = 3
# What linear work may take at most when others use the caches; twice that is still less than what quadratic work takes.
_MOST_OF_LINEAR = 3.0
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


def seconds(input_: Input, size: int) -> float:
    """Return the processor time that an input of a size takes."""
    made = input_.make(size)
    collects = gc.isenabled()
    gc.disable()
    start = time.thread_time()
    try:
        input_.take(made)
    except (ValueError, StatusError, DoesNotApply) as error:  # a refusal is an answer, too
        del error
    finally:
        taken = time.thread_time() - start
        if collects:
            gc.enable()
    return taken


# Many small objects, found again in a table: what readers and writers of objects do.
LINEAR = Input(
    "linear",
    lambda size: [str(number) for number in range(size)],
    lambda names: {name: [name] for name in names},
    largest=1 << 22,
)


def growth(input_: Input) -> float:
    """Return how much longer twice the input takes; 1.0 if the largest input takes no time that can be measured.

    Where linear work takes more than twice as long for twice the input, that much is taken off.
    """
    measured = _growth(input_)
    if measured <= MOST_GROWTH:
        return measured
    return measured * 2 / min(max(_growth(LINEAR, 1), 2.0), _MOST_OF_LINEAR)


def _growth(input_: Input, rounds: int = _ROUNDS) -> float:
    size = input_.start
    while _best(input_, size) < _LEAST_SECONDS:
        size *= 2
        if 2 * size > input_.largest:
            return 1.0
    times: dict[int, float] = {}
    mean = 0.0
    for _ in range(rounds):
        mean = _mean(input_, size, times)
        if mean <= MOST_GROWTH:
            break
    return mean


def _mean(input_: Input, size: int, times: dict[int, float]) -> float:
    """Measure doublings from a size on, put the best times down, and return their mean growth."""
    for doublings in range(_MOST_DOUBLINGS + 1):
        measured = size << doublings
        best = times[measured] = min(times.get(measured, float("inf")), _best(input_, measured))
        slow = doublings == 0 or best / times[measured // 2] > MOST_GROWTH
        if doublings and (best > _MOST_SECONDS or 2 * measured > input_.largest):
            break
        if doublings >= _DOUBLINGS and not slow:
            break
    return float((best / times[size]) ** (1 / doublings))


def _best(input_: Input, size: int) -> float:
    return min(seconds(input_, size) for _ in range(_RUNS))
