"""``$(NAME)`` in texts of a pod becomes the value of a variable, ``$$`` a dollar; unknown names stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PATTERN = re.compile(r"\$(\$|\(([^)]*)\))")


def expand(text: str, *values: Mapping[str, str]) -> str:
    """Return the text with its variables replaced; the first mapping that has a name wins."""
    if "$" not in text:
        return text

    def replacement(match: re.Match[str]) -> str:
        if match.group(1) == "$":
            return "$"
        for mapping in values:
            if match.group(2) in mapping:
                return mapping[match.group(2)]
        return match.group(0)

    return _PATTERN.sub(replacement, text)


def missing(text: str, values: Mapping[str, str]) -> list[str]:
    """Return the names that the text refers to and that have no value."""
    matches = (match for match in _PATTERN.finditer(text) if match.group(1) != "$")
    return [match.group(2) for match in matches if match.group(2) not in values]
