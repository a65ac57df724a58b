"""What is remembered of callers: their tokens' users and their rights, in a bounded number of bytes."""

from __future__ import annotations

import tracemalloc
from typing import Any

from pybernetes.lib.clock import ManualClock
from pybernetes.runtime.access_reviews import AccessReviews


class Server:
    """An API server that knows one token and lets its user do everything."""

    def __init__(self) -> None:
        self.asked = 0

    async def create(self, ref: Any, obj: Any) -> Any:
        self.asked += 1
        spec = obj["spec"]
        if "token" in spec:
            return {"status": {"authenticated": spec["token"] == "good", "user": {"username": "jane"}}}
        return {"status": {"allowed": spec["user"] == "jane"}}


def reviews() -> tuple[AccessReviews, Server, ManualClock]:
    server, clock = Server(), ManualClock()
    client: Any = server
    return AccessReviews(client, clock, allowed_seconds=300.0), server, clock


async def test_answers_are_remembered_for_a_while() -> None:
    asking, server, clock = reviews()
    page = {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
    for _ in range(2):
        assert await asking.user("good") == {"username": "jane"}
        assert await asking.user("bad") is None
        assert await asking.allows({"username": "jane"}, page)
        assert not await asking.allows({"username": "joe"}, page)
    assert server.asked == 4
    await clock.advance(11.0)
    assert await asking.user("bad") is None and await asking.allows({"username": "jane"}, page)
    assert server.asked == 5


async def test_long_tokens_of_strangers_are_not_kept() -> None:
    """A thousand tokens of 120 kB took 120 MB of every program that lets callers be checked, the kubelet above all."""
    asking, _, _ = reviews()
    tracemalloc.start()
    try:
        for number in range(500):
            assert await asking.user(f"{number:0100000d}") is None
        assert tracemalloc.get_traced_memory()[0] < 4 << 20
    finally:
        tracemalloc.stop()
