"""Whole numbers in texts of others, which may be anything."""

from __future__ import annotations

_MOST_DIGITS = 20  # of a number of 64 bits


def unsigned(text: object) -> int | None:
    """Return the number of at most 64 bits that ASCII digits spell; None for whatever else it is.

    ``isdigit`` alone is not enough: it is true of ``²``, and ``int`` raises for that, and for thousands of digits.
    """
    if not isinstance(text, str | bytes) or len(text) > _MOST_DIGITS:
        return None
    if not (text.isascii() and text.isdigit()):
        return None
    number = int(text)
    return number if number < 2**64 else None
