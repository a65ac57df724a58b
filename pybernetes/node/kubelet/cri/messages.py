"""The messages of CRI."""

from __future__ import annotations

from typing import Any

Message = Any  # the messages are generated at run time, so there are no types to name
