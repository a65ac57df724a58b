"""The node is looked after, whatever pods fill their folders with."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.eviction import eviction_manager
from pybernetes.node.kubelet.eviction.eviction_manager import EvictionManager
from tests.node.kubelet.eviction.pods import make_pod


class Evictable:
    """A pod that says whether it was evicted."""

    def __init__(self, pod: dict[str, Any]) -> None:
        self.pod, self.reasons = pod, list[str]()

    def fail(self, reason: str, message: str, grace: float | None = None, disruption: str = "") -> None:
        self.reasons.append(reason)

    @property
    def cleaned(self) -> bool:
        return bool(self.reasons)


async def test_folders_that_take_for_ever_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pod that adds folders as fast as they are measured must not keep others from being evicted for memory."""
    monkeypatch.setattr(eviction_manager, "_PATIENCE", 0.01)
    filled = Evictable(make_pod("filled", volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}]))
    greedy = Evictable(make_pod("greedy"))
    measured, asked = asyncio.Event(), list[bool]()

    async def of(uids: set[str], *, disks: bool = True) -> dict[str, Any]:
        asked.append(disks)
        if disks:
            await measured.wait()
        stats = {"containers": [], "volume": [{"name": "v", "usedBytes": 2 << 20}]}
        used = {"filled": 0, "greedy": 1 << 30}
        return {uid: {**stats, "memory": {"workingSetBytes": used[uid]}} for uid in uids}

    async def node() -> dict[str, Any]:
        left = 0 if not greedy.reasons else 1 << 30
        return {"memory": {"availableBytes": left, "workingSetBytes": 1 << 30}}

    async def image_filesystem() -> tuple[None, int]:
        return None, 0

    disks = SimpleNamespace(node_filesystem=lambda: None, image_filesystem=image_filesystem)
    context: Any = SimpleNamespace(
        clock=ManualClock(),
        event=lambda *args, **more: None,
        node_event=lambda *args: None,
        metrics=SimpleNamespace(add=lambda *args: None),
    )
    provider: Any = SimpleNamespace(of=of, node=node, disks=disks)

    async def free() -> None:
        raise AssertionError("images take no memory")

    manager = EvictionManager(
        {"evictionHard": {"memory.available": "100Mi"}}, context, provider,
        active=lambda: [filled, greedy], free=free, changed=lambda: None, seconds=10.0,
    )  # fmt: skip
    assert await manager.check() == [greedy]
    assert asked == [True, False] and not filled.reasons
    assert await manager.check() == [] and asked == [True, False], "one measurement at a time"
    measured.set()
    monkeypatch.setattr(eviction_manager, "_PATIENCE", 60.0)
    assert await manager.check() == [filled]
