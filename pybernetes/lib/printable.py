"""Texts of others on a terminal: what would do more than show itself is escaped."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile("[^\\t\x20-\x7e\xa0-\U0010ffff]|[\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return a line without characters that command a terminal, end the line or turn its direction."""
    return text if text.isprintable() else _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]
