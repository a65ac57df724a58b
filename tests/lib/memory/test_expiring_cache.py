"""What is remembered for a while has a bound in bytes."""

from __future__ import annotations

from pybernetes.lib.memory.expiring_cache import ExpiringCache


def test_a_value_is_known_for_its_time() -> None:
    now = 0.0
    cache: ExpiringCache[str | None] = ExpiringCache(100_000, lambda: now)
    cache.put(b"a", "one", 3, 10)
    cache.put(b"b", None, 0, 20)
    assert (cache.get(b"a"), cache.get(b"b"), cache.get(b"c")) == (("one",), (None,), None)
    now = 10.0
    assert (cache.get(b"a"), cache.get(b"b")) == (None, (None,))


def test_bytes_are_bounded_whatever_is_put() -> None:
    cache: ExpiringCache[int] = ExpiringCache(100_000)
    for number in range(10_000):
        cache.put(b"%d" % number, number, number % 5000, 60)  # some are too large to be kept at all
        assert cache.bytes <= 100_000
    assert cache.get(b"9999") is None and cache.get(b"5001") is None
    cache.put(b"last", 1, 10, 60)
    assert cache.get(b"last") == (1,)


def test_a_value_in_the_place_of_another_counts_once() -> None:
    cache: ExpiringCache[int] = ExpiringCache(100_000)
    for number in range(1000):
        cache.put(b"a", number, 1000, 60)
    assert cache.get(b"a") == (999,)
    assert cache.bytes < 2000
