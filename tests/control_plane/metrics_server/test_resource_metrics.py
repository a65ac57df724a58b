"""How figures are written: as quantities in Kubernetes' own form."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import quantity
from pybernetes.control_plane.metrics_server.resource_metrics import cpu, memory

NUMBERS = st.integers(0, 2**63) | st.builds(lambda number, zeros: number * 10**zeros, st.integers(0, 999), st.integers(0, 15))  # fmt: skip


@given(NUMBERS)
def test_cores(number: int) -> None:
    assert cpu(number) == quantity.format_like(Fraction(number, 10**9), "1")


@given(NUMBERS | st.builds(lambda number, power: number << power, st.integers(0, 1023), st.integers(0, 52)))
def test_bytes(number: int) -> None:
    assert memory(number) == quantity.format_like(Fraction(number), "1Ki")
