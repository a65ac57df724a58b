"""Quantities: ``500m``, ``1.5Gi``, ``1e3``; parsing, exact arithmetic, Kubernetes' canonical form."""

from __future__ import annotations

import re
from fractions import Fraction

from pybernetes.lib.memory.bounded_cache import bounded_cache

_PATTERN = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")
_BINARY = {"": 0, "Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_NAMES = {power: name for name, power in _DECIMAL.items()}
_BINARY_NAMES = {power: name for name, power in _BINARY.items()}
_NANO = Fraction(1, 10**9)
# The largest value in binary form; anything above is capped to it, as upstream does.
_LIMIT = Fraction(2**63 - 1)
# Powers of ten beyond this are no sensible quantity, and would take all memory.
_LARGEST_POWER = 60
# More digits than any number in use has: reading them takes time in proportion to their square.
_MOST_DIGITS = 1000
# How many digits upstream reads the quick way, in which it keeps the text as it was.
_QUICK_DIGITS = 18

FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX_ERROR = "unable to parse quantity's suffix"
NUMBER_ERROR = "unable to parse numeric part of quantity"


class QuantityError(ValueError):
    """The text is not a quantity."""


def _round_up(value: Fraction, unit: Fraction) -> Fraction:
    """Return the smallest multiple of the unit that is not nearer to zero than the value."""
    count = value / unit
    whole = -(-count.numerator // count.denominator) if count >= 0 else count.numerator // count.denominator
    return whole * unit


# A value; its form: "d" for decimal suffixes, "i" for binary ones, "e" for exponents; whether the text is written back.
_Parsed = tuple[Fraction, str, bool]


@bounded_cache()
def _parse(text: str) -> _Parsed:
    if text.isdecimal() and text.isascii() and len(text) < 16:  # most are plain numbers
        return Fraction(int(text)), "d", _is_kept(text, text.lstrip("0") or "0", "", "d", 0)
    text = text.strip()
    match = _PATTERN.fullmatch(text)
    if not match or not text:
        raise QuantityError(FORMAT_ERROR)
    sign, whole, fraction, suffix = match.groups("")
    form, power = _suffix(suffix)
    whole = whole.lstrip("0") or "0"
    digits = whole + fraction
    if len(digits) > _MOST_DIGITS:
        raise QuantityError(NUMBER_ERROR)
    number = Fraction(int(digits or "0"), 10 ** len(fraction)) * (-1 if sign == "-" else 1)
    if form == "i":
        value = number * 1024**power
    elif power > _LARGEST_POWER and number:
        raise QuantityError(NUMBER_ERROR)
    else:
        value = number * Fraction(10) ** max(power, -_LARGEST_POWER)
    value = _round_up(value, _NANO)
    if form == "i":
        value = max(-_LIMIT, min(_LIMIT, value))
    # A binary form below 1024 has no better suffix than the decimal one.
    if form == "i" and -1024 < value < 1024:
        form = "d"
    return value, form, _is_kept(text, digits, fraction, form, power)


def _suffix(text: str) -> tuple[str, int]:
    if text in _DECIMAL:
        return "d", _DECIMAL[text]
    if text in _BINARY:
        return "i", _BINARY[text]
    match = _EXPONENT.fullmatch(text)
    if not match:
        raise QuantityError(SUFFIX_ERROR)
    return "e", int(match[1][:6])


def _is_kept(text: str, digits: str, fraction: str, form: str, power: int) -> bool:
    """Return whether upstream takes the text for canonical, which it judges by its digits alone."""
    if text == "0":
        return True
    if form == "i":
        return not fraction and 14 - len(digits) - int(power * 3) >= 0 and int(digits) & 7 != 0
    scale = power - len(fraction)
    quick = len(digits) <= _QUICK_DIGITS and scale >= -9
    return quick and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def parse(text: str | int | float) -> Fraction:
    """Return the exact value of a quantity; raise QuantityError if it is not one."""
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
    while (power < 18 or form == "e") and number % 1000 == 0:
        number //= 1000
        power += 3
    if form == "e":
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_DECIMAL_NAMES[power]}"


def canonical(text: str | int | float) -> str:
    """Return the form in which the API server writes a quantity back: ``0.5`` becomes ``500m``."""
    written = text if isinstance(text, str) else str(text)
    return _canonical(written)


@bounded_cache()
def _canonical(written: str) -> str:
    value, form, kept = _parse(written)
    return written.strip() if kept else _format(value, form)


def format_like(value: Fraction, like: str) -> str:
    """Return a computed value in the format of a quantity that went into it."""
    _, form, _ = _parse(like)
    return _format(value, form if form != "i" or abs(value) >= 1024 else "d")


def _sum(left: str, right: str, sign: int) -> str:
    value, form, _ = _parse(left)
    other, its_form, _ = _parse(right)
    total = value + sign * other
    if not value:
        form = its_form
    return _format(total, "d" if form == "i" and -1024 < total < 1024 else form)


@bounded_cache()
def add(left: str, right: str) -> str:
    """Return the sum of two quantities, in the format of the first that is not zero."""
    return _sum(left, right, 1)


@bounded_cache()
def subtract(left: str, right: str) -> str:
    """Return the difference of two quantities, in the format of the first that is not zero."""
    return _sum(left, right, -1)


def round_up_milli(text: str) -> str:
    """Return the quantity rounded up to thousandths, in its own format."""
    return format_like(_round_up(parse(text), Fraction(1, 1000)), text)


def milli(text: str | int | float) -> int:
    """Return the thousandths, rounded up, as CPU is counted."""
    value = parse(text) * 1000
    return -(-value.numerator // value.denominator)


def integer(text: str | int | float) -> int:
    """Return the whole units, rounded up, as memory and counts are counted."""
    value = parse(text)
    return -(-value.numerator // value.denominator)


def is_integer(text: str | int | float) -> bool:
    """Return whether the quantity is a whole number."""
    return parse(text).denominator == 1
