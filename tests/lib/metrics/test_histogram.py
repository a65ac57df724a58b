import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.metrics.histogram import LOWEST, Histogram, merged

BOUNDS = (0.0, 0.005, 0.1, 1.0, 7.5)
VALUES = st.lists(
    st.floats(min_value=-1, max_value=1e6) | st.integers(0, 1 << 40) | st.sampled_from(BOUNDS), max_size=50
)


def _end(key: int) -> float:
    return math.ldexp(2.0 ** (key % 8 / 8), key // 8)


@given(VALUES)
def test_every_value_is_in_the_bucket_that_it_belongs_to(values: list[float]) -> None:
    histogram = Histogram(BOUNDS)
    for value in values:
        histogram.observe(value)
    assert histogram.number == len(values)
    for place, bound in enumerate(BOUNDS):
        assert sum(histogram.counts[: place + 1]) == sum(value <= bound for value in values)
    native = histogram.native()
    assert native.zero_count == sum(value <= LOWEST for value in values)
    expected: dict[int, int] = {}
    for value in values:
        if value > LOWEST:
            key = math.ceil(math.log2(value) * 8)  # or the next but one, where numbers are rounded
            while _end(key) < value:
                key += 1
            while _end(key - 1) >= value:
                key -= 1
            expected[key] = expected.get(key, 0) + 1
    assert native.schema == 3 and native.buckets == expected


@pytest.mark.parametrize(
    ("value", "key"), [(1.0, 0), (1.0001, 1), (2.0, 8), (0.5, -8), (0.50001, -7), (2.0**64, 512)]
)
def test_bounds_belong_to_the_bucket_that_they_end(value: float, key: int) -> None:
    histogram = Histogram(BOUNDS)
    histogram.observe(value)
    assert histogram.native().buckets == {key: 1}


def test_what_is_too_large_is_in_the_last() -> None:
    histogram = Histogram(BOUNDS)
    histogram.observe(math.inf)
    assert histogram.counts[-1] == 1 and histogram.native().buckets == {513: 1}


def test_many_buckets_get_wider() -> None:
    histogram = Histogram(BOUNDS)
    for power in range(-240, 240):
        histogram.observe(2 ** (power / 8) * 0.999)
    native = histogram.native()
    assert native.schema == 1 and len(native.buckets) <= 160
    assert sum(native.buckets.values()) + native.zero_count == 480
    for key in native.buckets:  # each is where its values are
        assert Fraction(-31 * 2) <= key <= Fraction(30 * 2)


def test_what_is_quick_is_not_told_apart() -> None:
    histogram = Histogram((0.005, 1.0), lowest=0.005)
    histogram.count(0.005, 7)
    histogram.observe(0.0051)
    native = histogram.native()
    assert histogram.counts == [7, 1, 0] and native.zero_count == 7 and native.zero_threshold == 0.005
    assert sum(native.buckets.values()) == 1


def test_merging_into_fewer_bounds() -> None:
    first, second = Histogram((1.0, 2.0, 3.0)), Histogram((1.0, 2.0, 3.0))
    first.observe(0.5, 2)
    first.observe(2.5)
    second.observe(1.5)
    second.observe(9.0)
    second.observe(9.0, -1)  # taken back
    whole = merged((first, second), (2.0, 3.0))
    assert whole.counts == [3, 1, 0] and whole.total == 5.0 and whole.number == 4
    assert sum(whole.native().buckets.values()) == 4


def test_values_that_wait_are_counted_when_asked_for() -> None:
    at_once, later = Histogram((1, 2)), Histogram((1, 2))
    for value in (0.5, 1, 1.5, 3, 0.5):
        at_once.observe(value)
        later.waiting.append(value)
    assert (
        (later.number, later.counts, later.total) == (5, at_once.counts, at_once.total) == (5, [3, 1, 1], 6.5)
    )
    later.waiting.append(7)
    assert later.native().buckets != at_once.native().buckets and not later.waiting
    later.waiting.append(7)
    assert merged((later, at_once), (1, 2)).counts == [6, 2, 4]
