"""Moments as text: RFC 3339 in UTC, with whole seconds or with microseconds."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def seconds(moment: float) -> str:
    """Return a moment (seconds since the epoch) in whole seconds: ``2026-01-31T12:00:00Z``."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def micro(moment: float) -> str:
    """Return a moment with microseconds: ``2026-01-31T12:00:00.000000Z``."""
    whole, fraction = divmod(round(moment * 1_000_000), 1_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{fraction:06d}Z"


def parse(text: str) -> float:
    """Return the moment that a text says, in seconds since the epoch; ValueError if it says none."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp()
