"""What is remembered only to be faster is forgotten, and what remembered it may go."""

from __future__ import annotations

import gc
import weakref
from functools import lru_cache

from pybernetes.lib.memory import forgetting
from pybernetes.lib.memory.bounded_cache import BoundedCache


async def test_caches_are_emptied_and_fill_again() -> None:
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    kept = BoundedCache(make, 1 << 20)
    double = forgetting.forgotten(lru_cache(maxsize=10)(lambda number: 2 * number))
    for _ in range(2):
        assert (kept["a"], double(4)) == ("A", 8)
    await forgetting.forget()
    assert (len(kept), kept.bytes, double.cache_info().currsize) == (0, 0, 0)
    assert (kept["a"], double(4), made) == ("A", 8, ["a", "a"])


async def test_it_keeps_nothing_alive() -> None:
    kept = BoundedCache(str, 1 << 20)
    gone, known = weakref.ref(kept), len(forgetting._forgetters)
    del kept
    gc.collect()
    assert gone() is None
    await forgetting.forget()
    assert len(forgetting._forgetters) < known
