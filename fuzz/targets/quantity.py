"""Quantities, durations and cron schedules: a canonical form stays as it is."""

from __future__ import annotations

from fuzz.engine.target import Target
from pybernetes.api import quantity
from pybernetes.api.text.durations import parse_duration


def run(data: bytes) -> None:
    """Parse a text as each of them."""
    text = data.decode("latin-1")
    try:
        parse_duration(text)
    except ValueError:
        pass
    canonical = quantity.canonical(text)
    assert quantity.canonical(canonical) == canonical
    assert quantity.parse(canonical) == quantity.parse(quantity.canonical(canonical))


TARGET = Target(
    run,
    (quantity.QuantityError,),
    seeds=(b"100m", b"1.5Gi", b"-12e6", b"0.000000001", b"9223372036854775807", b"1h30m0.5s", b"1E"),
    words=(b"Ki", b"Mi", b"Ei", b"m", b"u", b"n", b"k", b"e-9", b"E18", b".", b"+", b"-", b"0", b"h", b"ms"),
    per_byte=20e-6,
    largest=4096,
)
