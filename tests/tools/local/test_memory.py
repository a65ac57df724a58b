"""What comes and goes leaves nothing behind in a control plane: objects are counted by their types, memory in bytes."""

from __future__ import annotations

import asyncio
import heapq
import logging
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.harness import rounds
from pybernetes.cmd import kube_apiserver, kube_controller_manager
from pybernetes.control_plane.apiserver.storage import kind
from pybernetes.control_plane.apiserver.storage.recently_decoded import RecentlyDecoded
from pybernetes.lib.memory import forgetting
from pybernetes.runtime import correlation, queue
from pybernetes.scheduling.columns import Journal
from pybernetes.scheduling.counters import Counters
from pybernetes.tools.local.control_plane import ControlPlane
from tests import growth

ROUNDS = 5
# What a round may leave: places in tables of a fixed size that are still filling up, and what is decoded and not yet forgotten.
KILOBYTES = 48
# Each task that goes on holds one, of the same few: after they were forgotten, of a new copy. And histograms come with the
# records of metrics, several with each, which are counted themselves.
COPIES = {"pybernetes.lib.event_loop.fair_turns.Owner", "pybernetes.lib.metrics.histogram.Histogram"}
# Swept when it has grown to twice what is left; places for values of sizes that there are so many of; and values that are counted when
# there are 64.
FILLING = {"Expiry._heap", "Histogram.bins", "Histogram.waiting"}
# Tables of a fixed size would still be filling up: they are made small enough to be full after the first rounds.
SMALL: tuple[tuple[Any, str, Any], ...] = (
    (kind, "_RECENTLY_DECODED", RecentlyDecoded(most_bytes=4096)),
    (Counters, "LIMIT", 4),
    (Journal, "LIMIT", 32),
    (correlation, "_LEAST_SWEPT", 2),
    (queue, "_STALE", 2),
)


async def settled(plane: ControlPlane) -> Counter[str]:
    """Count once history is let go and everybody has come to rest: the least of several looks counts."""
    loop: Any = asyncio.get_running_loop()

    async def look() -> Counter[str]:
        # Timers that were cancelled stay in the loop's heap for a while, and hold what their requests knew.
        loop._scheduled = [timer for timer in loop._scheduled if not timer.cancelled()]
        heapq.heapify(loop._scheduled)
        await plane.server.store.compact(plane.server.store.revision)
        await forgetting.forget()
        return growth.census()

    return await growth.at_rest(look)


def measuring(difference: tracemalloc.StatisticDiff) -> bool:
    """Tell whether memory is that of this test."""
    return difference.traceback[0].filename in (__file__, tracemalloc.__file__)


@pytest.fixture
def nothing_is_logged() -> Iterator[None]:
    """Log nothing: pytest would keep it, with the errors and all that they hold."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_is_logged")
async def test_namespaces_that_come_and_go_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, name, value in SMALL:
        monkeypatch.setattr(place, name, value)
    flags = [
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        f"--cert-dir={tmp_path}",
        "--storage-backend=memory",
    ]
    plane = ControlPlane(
        kube_apiserver.parser().parse_args(flags),
        kube_controller_manager.parser().parse_args(["--secure-port=0"]),
        hollow=1,
    )
    await plane.start()
    try:
        client = plane.client("tester", "system:masters")
        await asyncio.gather(*(rounds.once(client, number) for number in range(ROUNDS)))
        before, tables = await settled(plane), growth.sizes()
        tracemalloc.start()
        await asyncio.gather(*(rounds.once(client, ROUNDS + number) for number in range(ROUNDS)))
        midway = await settled(plane)
        between, weighed = growth.sizes(), tracemalloc.take_snapshot()
        await asyncio.gather(*(rounds.once(client, 2 * ROUNDS + number) for number in range(ROUNDS)))
        after, filled = await settled(plane), growth.grown_tables(tables, between, ROUNDS - 1)
        differences = tracemalloc.take_snapshot().compare_to(weighed, "lineno")
    finally:
        tracemalloc.stop()
        await plane.stop()
    # Twice: what is decoded again after it was forgotten comes once.
    steps = {name: (midway[name] - before[name], count - midway[name]) for name, count in after.items()}
    grown = {name: step for name, step in steps.items() if min(step) >= ROUNDS - 1 and name not in COPIES}
    assert (grown, filled - FILLING) == ({}, set()), (
        f"{grown}, {filled - FILLING} after {2 * ROUNDS} more rounds"
    )
    kept = (
        sum(difference.size_diff for difference in differences if not measuring(difference)) / 1000 / ROUNDS
    )
    assert kept < KILOBYTES, f"{kept:.0f} kB a round: " + "; ".join(map(str, differences[:10]))
