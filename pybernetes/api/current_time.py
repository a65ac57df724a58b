"""The time now, for the few fields that the API itself stamps."""

from __future__ import annotations

import time
from collections.abc import Callable

from pybernetes.lib import rfc3339

clock: Callable[[], float] = time.time


def timestamp() -> str:
    """Return the time now as metadata and conditions write it: RFC 3339 in UTC, whole seconds."""
    return rfc3339.seconds(clock())
