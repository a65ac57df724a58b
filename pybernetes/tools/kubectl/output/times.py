"""Moments and spans of time as kubectl shows them."""

from __future__ import annotations


def epoch(text: str) -> float:
    """Return a time of an object in seconds since 1970."""
    from datetime import datetime

    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def human(seconds: float) -> str:
    """Return a duration in at most two units, as in 3d4h."""
    value = int(seconds)
    if value < -1:
        return "<invalid>"
    if value < 0:
        return "0s"
    if value < 120:
        return f"{value}s"
    minutes = value // 60
    if minutes < 10:
        return f"{minutes}m{value % 60}s" if value % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours = value // 3600
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    days = hours // 24
    if hours < 24 * 8:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if hours < 24 * 365 * 2:
        return f"{days}d"
    years = hours // (24 * 365)
    if hours < 24 * 365 * 8:
        rest = days % 365
        return f"{years}y{rest}d" if rest else f"{years}y"
    return f"{years}y"


def since(text: str | None, now: float | None = None) -> str:
    """Return how long ago a time of an object is."""
    if not text:
        return "<unknown>"
    if now is None:
        import time

        now = time.time()
    return human(now - epoch(text))


def rfc1123z(text: str | None) -> str:
    """Return a time as ``Mon, 02 Jan 2006 15:04:05 -0700`` in the local zone."""
    if not text:
        return "<unset>"
    from datetime import datetime

    return datetime.fromtimestamp(epoch(text)).astimezone().strftime("%a, %d %b %Y %H:%M:%S %z")


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
