"""Quantities: ``500m``, ``1.5Gi``, ``1e3``; parsing, exact arithmetic, Kubernetes' canonical form."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

_PATTERN = re.compile(r"^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE])([+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))$")
_BINARY = {"": 0, "Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_NAMES = {power: name for name, power in _DECIMAL.items()}
_BINARY_NAMES = {power: name for name, power in _BINARY.items()}
_NANO = Fraction(1, 10**9)
# The largest value that a quantity holds; anything above is capped to it, as upstream does.
_LIMIT = Fraction(2**63 - 1)

FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class QuantityError(ValueError):
    """The text is not a quantity."""


def _round_up(value: Fraction, unit: Fraction) -> Fraction:
    """The smallest multiple of the unit that is not nearer to zero than the value."""
    count = value / unit
    whole = -(-count.numerator // count.denominator) if count >= 0 else count.numerator // count.denominator
    return whole * unit


@lru_cache(maxsize=8192)
def _parse(text: str) -> tuple[Fraction, str]:
    if text.isdecimal() and text.isascii() and len(text) < 16:
        return Fraction(int(text)), "d"  # most are plain numbers
    match = _PATTERN.match(text)
    if not match:
        raise QuantityError(FORMAT_ERROR)
    sign, number, exponent, power, suffix = match.groups()
    value = Fraction(number if number[-1] != "." else number[:-1])
    if sign == "-":
        value = -value
    if exponent:
        form, value = "e", value * Fraction(10) ** int(power)
    elif suffix in _BINARY and suffix:
        form, value = "i", value * 1024 ** _BINARY[suffix]
    else:
        form, value = "d", value * Fraction(10) ** _DECIMAL[suffix]
    value = max(-_LIMIT, min(_LIMIT, _round_up(value, _NANO)))
    # A binary form below 1024 has no better suffix than the decimal one.
    if form == "i" and -1024 < value < 1024:
        form = "d"
    return value, form


def parse(text: str | int | float) -> Fraction:
    """The exact value of a quantity; QuantityError if it is not one."""
    return _parse(text if isinstance(text, str) else str(text))[0]


def _format(value: Fraction, form: str) -> str:
    if value == 0:
        return "0"
    if form == "i" and value.denominator == 1:
        number, power = value.numerator, 0
        while power < 6 and number % 1024 == 0:
            number //= 1024
            power += 1
        return f"{number}{_BINARY_NAMES[power]}"
    if form == "d":
        # Most are plain numbers or thousandths.
        if value.denominator == 1 and value.numerator % 1000:
            return str(value.numerator)
        if 1000 % value.denominator == 0 and value.denominator > 1:
            return f"{value.numerator * (1000 // value.denominator)}m"
    power = -9
    number = int(value / _NANO)
    while power < 18 and number % 1000 == 0:
        number //= 1000
        power += 3
    if form == "e":
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_DECIMAL_NAMES[power]}"


@lru_cache(maxsize=8192)
def canonical(text: str | int | float) -> str:
    """The form in which the API server writes a quantity back: ``0.5`` becomes ``500m``."""
    value, form = _parse(text if isinstance(text, str) else str(text))
    return _format(value, form)


def format_like(value: Fraction, like: str) -> str:
    """A computed value in the format of a quantity that went into it."""
    form = _parse(like)[1]
    return _format(value, form if form != "i" or abs(value) >= 1024 else "d")


def _sum(left: str, right: str, sign: int) -> str:
    value, form = _parse(left)
    other, its_form = _parse(right)
    total = value + sign * other
    if not value:
        form = its_form
    return _format(total, "d" if form == "i" and -1024 < total < 1024 else form)


@lru_cache(maxsize=8192)
def add(left: str, right: str) -> str:
    """The sum of two quantities, in the format of the first that is not zero."""
    return _sum(left, right, 1)


@lru_cache(maxsize=8192)
def subtract(left: str, right: str) -> str:
    """The difference of two quantities, in the format of the first that is not zero."""
    return _sum(left, right, -1)


def round_up_milli(text: str) -> str:
    """The quantity rounded up to thousandths, in its own format."""
    return format_like(_round_up(parse(text), Fraction(1, 1000)), text)


def milli(text: str | int | float) -> int:
    """Thousandths, rounded up, as CPU is counted."""
    value = parse(text) * 1000
    return -(-value.numerator // value.denominator)


def integer(text: str | int | float) -> int:
    """Whole units, rounded up, as memory and counts are counted."""
    value = parse(text)
    return -(-value.numerator // value.denominator)


def is_integer(text: str | int | float) -> bool:
    """Whether the quantity is a whole number."""
    return parse(text).denominator == 1
