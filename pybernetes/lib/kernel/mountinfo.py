"""The mounts of this machine, as the kernel lists them.

Parts of a line are names that others choose: a container that has a folder of a volume mounted chose the folder's name.
The kernel escapes what separates words and lines, and nothing else: other characters that Python takes for the end of a
line, and bytes that are no text, come as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_LIST = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(rb"\\([0-7]{3})")
_SPECIAL = re.compile(rb"[ \t\n\\]")  # what the kernel escapes
_BACKSLASH = 0x5C


class Mount(NamedTuple):
    """A mount: its place, its device as ``major:minor``, and what is mounted."""

    point: str
    device: str
    source: str


def mounts() -> list[Mount]:
    """Return what is mounted where this process can see it."""
    return list(parse(_LIST.read_bytes()))


def points_below(folder: str, text: bytes | None = None) -> list[str]:
    """Return the places of the mounts below a folder; of all others, which may be thousands, nothing is read."""
    prefix = _SPECIAL.sub(lambda match: b"\\%03o" % match[0][0], os.fsencode(folder)) + b"/"
    points = []
    for line in (_LIST.read_bytes() if text is None else text).split(b"\n"):
        if line.find(prefix) >= 0:
            words = line.split(b" ")
            if len(words) > 6 and words[4].startswith(prefix):
                points.append(_name(words[4]))
    return points


def parse(text: bytes) -> Iterator[Mount]:
    """Yield the mounts of a list of the kernel's."""
    for line in text.split(b"\n"):
        words = line.split(b" ")
        if len(words) > 6 and b"-" in words[6:]:
            source = words[words.index(b"-", 6) + 2]
            yield Mount(_name(words[4]), _name(words[2]), _name(source))


def _name(word: bytes) -> str:
    if _BACKSLASH in word:
        word = _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), word)
    return os.fsdecode(word)
