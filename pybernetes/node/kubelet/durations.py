"""Durations as people read them, the way that Go prints them: ``1m20s``."""

from __future__ import annotations


def text(seconds: float) -> str:
    """Return a duration in whole seconds as Go prints it: ``1m20s``."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{left}s"
    return f"{minutes}m{left}s" if minutes else f"{left}s"
