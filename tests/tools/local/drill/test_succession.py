"""Who takes the place of a component that was killed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.tools.local.drill import succession
from pybernetes.tools.local.paths import ClusterError


class FakeSite:
    """A place where another is active once the first one was killed, and some seconds have passed."""

    def __init__(self, seconds: float) -> None:
        self.notes: dict[str, float] = {}
        self.killed: list[tuple[str, str]] = []
        self._seconds = seconds

    def active(self, component: str) -> str:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()  # an answer is waited for beside the clients, which must not be held up
        return "two_b" if self.killed else "one_a"

    def kill(self, machine: str, program: str) -> None:
        self.killed.append((machine, program))

    async def until(self, what: str, condition: Any) -> float:
        assert await asyncio.to_thread(condition)
        return self._seconds


async def test_another_is_active_in_time() -> None:
    site: Any = FakeSite(16.0)
    await succession.hand_over(site, "kube-scheduler")
    assert site.killed == [("one", "kube-scheduler")] and site.notes == {"active again": 16.0}


async def test_too_late_is_an_error() -> None:
    site: Any = FakeSite(18.5)
    with pytest.raises(ClusterError, match=r"18\.5 s until another kube-scheduler was active"):
        await succession.hand_over(site, "kube-scheduler")
