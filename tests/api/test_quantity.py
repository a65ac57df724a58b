"""Quantities: upstream's own cases, round trips, order and arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import quantity


@pytest.mark.parametrize(
    ("text", "value", "canonical"),
    [
        ("0", 0, "0"), ("0Ki", 0, "0"), ("0.0", 0, "0"), ("1", 1, "1"), ("100m", Fraction(1, 10), "100m"),
        ("0.5", Fraction(1, 2), "500m"), ("1.5", Fraction(3, 2), "1500m"), ("1.0", 1, "1"), ("1000", 1000, "1k"),
        ("1024", 1024, "1024"), ("1Ki", 1024, "1Ki"), ("1024Ki", 2**20, "1Mi"), ("0.5Gi", 2**29, "512Mi"),
        ("1.5Gi", 3 * 2**29, "1536Mi"), ("512", 512, "512"), ("0.1Ki", Fraction(1024, 10), "102400m"),
        ("1e3", 1000, "1e3"), ("1E3", 1000, "1E3"), ("1000e3", 10**6, "1e6"), ("1e-3", Fraction(1, 1000), "1e-3"),
        ("1.1e10", 11 * 10**9, "1.1e10"), ("0.0000000001", Fraction(1, 10**9), "1n"), ("1n", Fraction(1, 10**9), "1n"),
        ("1.0000000001", Fraction(1_000_000_001, 10**9), "1000000001n"), ("-1", -1, "-1"), ("-0.5", Fraction(-1, 2), "-500m"),
        ("+1", 1, "+1"), ("007G", 7 * 10**9, "007G"), ("1.k", 1000, "1.k"), (".5", Fraction(1, 2), "500m"), (".", 0, "0"),
        ("10E", 10**19, "10E"), ("100Ei", 2**63 - 1, "9223372036854775807"), (" 5 ", 5, "5"), (12, 12, "12"),
        (1.5, Fraction(3, 2), "1500m"), ("12345678901234567890123", 12345678901234567890123, "12345678901234567890123"),
        ("1000E18", 10**21, "1e21"), ("8Ki", 8192, "8Ki"), ("1e0", 1, "1e0"),
    ],
)  # fmt: skip
def test_known(text: str | int | float, value: int | Fraction, canonical: str) -> None:
    assert quantity.parse(text) == value
    assert quantity.canonical(text) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "quantities must match"), ("a", "quantities must match"), ("1.2.3", "quantities must match"),
        ("--1", "suffix"), ("1 Gi", "quantities must match"), ("1e1.5", "quantities must match"),
        ("1K", "suffix"), ("1ki", "suffix"), ("1Zi", "quantities must match"), ("1kk", "suffix"), ("1e", "suffix"),
        ("1E+", "suffix"), ("1e100", "numeric part"), ("1e999999999999", "numeric part"), ("١", "quantities must match"),
    ],
)  # fmt: skip
def test_what_is_none(text: str, message: str) -> None:
    with pytest.raises(quantity.QuantityError) as error:
        quantity.canonical(text)
    assert message in str(error.value)


_TEXTS = st.builds(
    lambda sign, whole, fraction, suffix: f"{sign}{whole}{'.' + str(fraction) if fraction is not None else ''}{suffix}",
    st.sampled_from(("", "-")), st.integers(0, 10**12), st.none() | st.integers(0, 10**12),
    st.sampled_from(("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-5", "E7")),
)  # fmt: skip


@given(_TEXTS)
def test_the_canonical_form_is_the_same_quantity(text: str) -> None:
    written = quantity.canonical(text)
    assert quantity.parse(written) == quantity.parse(text)
    assert quantity.canonical(written) == written


@given(_TEXTS, _TEXTS)
def test_arithmetic(left: str, right: str) -> None:
    """Sums are exact but for the largest binary quantities, which have a cap."""
    total = quantity.parse(quantity.add(left, right))
    exact = quantity.parse(left) + quantity.parse(right)
    assert total == exact or abs(exact) > 2**62
    assert quantity.parse(quantity.subtract(left, left)) == 0
    assert (quantity.parse(left) < quantity.parse(right)) == (quantity.parse(right) > quantity.parse(left))


@given(
    st.text(max_size=12)
    | st.from_regex(r"[+-]?[0-9.]{0,20}[eEinumkKMGTP]{0,3}[-+]?[0-9]{0,12}", fullmatch=True)
)
def test_anything_else_is_refused_in_time(text: str) -> None:
    try:
        quantity.canonical(text)
    except quantity.QuantityError:
        pass
