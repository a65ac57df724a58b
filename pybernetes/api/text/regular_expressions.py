"""Regular expressions as Go has them: RE2, which is imported when the first one comes."""

from __future__ import annotations

from typing import Any

from pybernetes.lib.memory.bounded_cache import bounded_cache

# Errors of RE2, and what Go's library says instead.
_SORTS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
}


class PatternError(ValueError):
    """A text that is no regular expression; it says so in Go's words."""


@bounded_cache(32 << 20, weight=200)
def compile_pattern(text: str) -> Any:
    """Return a compiled expression; raise PatternError if it is none."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise PatternError(f"error parsing regexp: {_in_go(error.args[0] if error.args else '')}") from None


def _in_go(text: str | bytes) -> str:
    """Return a complaint as Go has it: its sort, and the part of the pattern in backquotes."""
    text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    sort, colon, part = text.partition(": ")
    return f"{_SORTS.get(sort, sort)}: `{part}`" if colon else text
