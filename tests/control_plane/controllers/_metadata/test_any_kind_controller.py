"""AnyKindController: it ends when it is told to, at whatever moment."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.control_plane.controllers._metadata.any_kind_controller import AnyKindController


@pytest.mark.parametrize("turns", range(5))
async def test_a_cancellation_counts_while_the_caches_fill(turns: int) -> None:
    filled = asyncio.Event()
    controller: Any = object.__new__(AnyKindController)
    controller.monitors = SimpleNamespace(wait_synced=filled.wait)
    task = asyncio.create_task(controller.prepare())
    for _ in range(3):
        await asyncio.sleep(0)
    filled.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    was_over = task.done()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() is not was_over
