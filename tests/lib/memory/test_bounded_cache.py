"""Caches of what others send."""

from __future__ import annotations

import pytest

from pybernetes.lib.memory.bounded_cache import BoundedCache, bounded_cache


def test_what_is_made_is_kept() -> None:
    made: list[str] = []

    @bounded_cache()
    def upper(text: str) -> str:
        made.append(text)
        return text.upper()

    assert [upper("a"), upper("b"), upper("a")] == ["A", "B", "A"]
    assert made == ["a", "b"]


def test_several_arguments_and_errors() -> None:
    made: list[tuple[str, int]] = []

    @bounded_cache(1 << 20)
    def repeat(text: str, times: int) -> str:
        """Repeat a text."""
        made.append((text, times))
        if times < 0:
            raise ValueError("times")
        return text * times

    assert repeat("a", 2) == repeat("a", 2) == "aa"
    for _ in range(2):
        with pytest.raises(ValueError, match="times"):
            repeat("a", -1)
    assert made == [("a", 2), ("a", -1), ("a", -1)] and repeat.__doc__ == "Repeat a text."


def test_bytes_are_bounded() -> None:
    """150 paths of a megabyte once stayed for ever; many short ones are as much."""
    cache = BoundedCache(str.upper, 100_000)
    for number in range(150):
        cache[f"{number}" + "a" * 1_000_000]
    assert not cache
    for number in range(10_000):
        cache[f"{number}" * 10]
        assert cache.bytes <= 100_000
    assert 10 < len(cache) < 400
