"""Moments and spans of time as kubectl shows them."""

from __future__ import annotations


def since(text: str | None, now: float | None = None) -> str:
    """Return how long ago a time of an object is."""
    if not text:
        return "<unknown>"
    if now is None:
        import time

        now = time.time()
    from pybernetes.api.text.durations import human_duration
    from pybernetes.lib.rfc3339 import parse

    return human_duration(now - parse(text))


def rfc1123z(text: str | None) -> str:
    """Return a time as ``Mon, 02 Jan 2006 15:04:05 -0700`` in the local zone."""
    if not text:
        return "<unset>"
    from datetime import datetime

    from pybernetes.lib.rfc3339 import parse

    return datetime.fromtimestamp(parse(text)).astimezone().strftime("%a, %d %b %Y %H:%M:%S %z")


def check_rfc3339(text: str) -> None:
    """Refuse a text that is not a time, in the words of Go."""
    import re

    from pybernetes.tools.kubectl.errors import CommandError

    parts = [(r"\d{4}", "2006"), ("-", "-"), (r"\d\d", "01"), ("-", "-"), (r"\d\d", "02"), ("T", "T"),
             (r"\d\d", "15"), (":", ":"), (r"\d\d", "04"), (":", ":"), (r"\d\d(\.\d+)?", "05"),
             (r"Z|[-+]\d\d:\d\d", "Z07:00")]  # fmt: skip
    rest = text
    for pattern, part in parts:
        match = re.match(pattern, rest)
        if match is None:
            raise CommandError(
                f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{rest}" as "{part}"'
            )
        rest = rest[match.end() :]
    if rest:
        raise CommandError(f'parsing time "{text}": extra text: "{rest}"')
