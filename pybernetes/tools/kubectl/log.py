"""Lines about what kubectl does, for ``-v``: the format of Kubernetes' log lines, to standard error.

Nothing here costs a command line without ``-v`` more than a comparison.
"""

from __future__ import annotations

import os
import sys

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

level = 0
_stream: Any = None


def set_level(verbosity: int, stream: Any = None) -> None:
    """Print lines up to this level from now on."""
    global level, _stream
    level, _stream = verbosity, stream


def asked(arguments: list[str]) -> int:
    """Return the level that a command line asks for, before its flags are parsed."""
    verbosity = 0
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        name, equals, value = argument.partition("=")
        if name not in ("-v", "--v") and argument[:2] == "-v" and argument[2:].isdigit():
            verbosity = int(argument[2:])
        elif name in ("-v", "--v"):
            text = value if equals else "".join(arguments[place + 1 : place + 2])
            verbosity = int(text) if text.isdigit() else verbosity
    return verbosity


def line(source: str, text: str, at: int = 1, severity: str = "I") -> None:
    """Print a line if ``at`` is not above the level; ``source`` is the place that the line names."""
    if at > level:
        return
    out = _stream or sys.stderr
    out.write(f"{header(source, severity)}{text}\n")
    out.flush()


def quoted_value(text: str) -> str:
    """Return the value of a key as lines have it: in quotes, or set off if it has lines of its own."""
    if "\n" in text:
        lines = "".join(f"\t{line}\n" for line in text.split("\n"))
        return f"<\n{lines} >"
    from pybernetes.tools.kubectl.errors import quoted

    return quoted(text)


def header(source: str, severity: str = "I") -> str:
    """Return what a line begins with."""
    import time

    now = time.time()
    stamp = time.strftime("%m%d %H:%M:%S", time.localtime(now))
    return f"{severity}{stamp}.{int(now % 1 * 1e6):06d} {os.getpid():7d} {source}] "
