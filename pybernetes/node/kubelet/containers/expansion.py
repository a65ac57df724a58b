"""``$(NAME)`` in texts of a pod becomes the value of a variable, ``$$`` a dollar; unknown names stay as they are.

A variable may consist of others, those of more others: a few lines can stand for more than any machine has room for. So
what a container gets is counted while it is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

LONGEST = 6 << 20  # the kernel starts nothing with longer arguments, nor with longer variables
_PATTERN = re.compile(r"\$(\$|\(([^)]*)\))")


class TooLong(ValueError):
    """The variables or the arguments of a container are longer than the kernel takes."""

    def __init__(self) -> None:
        super().__init__(f"argument list too long: more than {LONGEST} bytes")


class Room:
    """What is left for the variables or for the arguments of a container."""

    def __init__(self) -> None:
        self.left = LONGEST

    def take(self, *texts: str) -> None:
        """Count texts; raise TooLong if there is no room for them."""
        self.left -= sum(map(len, texts))
        if self.left < 0:
            raise TooLong


def expand(text: str, *values: Mapping[str, str]) -> str:
    """Return the text with its variables replaced; the first mapping that has a name wins.

    Raise TooLong if that is too long.
    """
    if "$" not in text:
        return text
    room = Room()

    def replacement(match: re.Match[str]) -> str:
        if match.group(1) == "$":
            return "$"
        for mapping in values:
            if match.group(2) in mapping:
                value = mapping[match.group(2)]
                room.take(value)
                return value
        return match.group(0)

    head, tail = _parts(text)
    return _PATTERN.sub(replacement, head) + tail.replace("$$", "$")


def _parts(text: str) -> tuple[str, str]:
    """Return the part with references, and the part after the last bracket, in which none can end.

    To look for the end of each there would take time that grows with the square of the text.
    """
    end = text.rfind(")") + 1
    return text[:end], text[end:]


def expand_all(words: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """Return words with their variables replaced; raise TooLong if they are too long together."""
    room, expanded = Room(), []
    for word in words:
        expanded.append(expand(word, values))
        room.take(expanded[-1])
    return expanded


def missing(text: str, values: Mapping[str, str]) -> list[str]:
    """Return the names that the text refers to and that have no value."""
    matches = (match for match in _PATTERN.finditer(_parts(text)[0]) if match.group(1) != "$")
    return [match.group(2) for match in matches if match.group(2) not in values]
