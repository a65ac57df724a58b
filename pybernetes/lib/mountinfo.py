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

_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Mount(NamedTuple):
    """A mount: its place, its device as ``major:minor``, and what is mounted."""

    point: str
    device: str
    source: str


def mounts() -> list[Mount]:
    """Return what is mounted where this process can see it."""
    return list(parse(Path("/proc/self/mountinfo").read_bytes()))


def parse(text: bytes) -> Iterator[Mount]:
    """Yield the mounts of a list of the kernel's."""
    for line in text.split(b"\n"):
        words = line.split(b" ")
        if len(words) > 6 and b"-" in words[6:]:
            source = words[words.index(b"-", 6) + 2]
            yield Mount(_name(words[4]), _name(words[2]), _name(source))


def _name(word: bytes) -> str:
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), word))
