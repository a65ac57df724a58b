"""Semantic versions as those have them who would lead: numbers that can be compared."""

from __future__ import annotations

import re

Version = tuple[int, int, int, bool, str]
_VERSION = re.compile(
    r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?"
)


def parse(text: str) -> Version | None:
    """Return a version such that later ones are greater, those before a release less than it; None if it is none."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    return int(match[1]), int(match[2]), int(match[3]), not match[4], match[4] or ""
