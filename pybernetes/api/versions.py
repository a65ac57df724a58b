"""Names of API versions: v1, v2beta3 and whatever else people call theirs."""

from __future__ import annotations

import re

_VERSION = re.compile(r"^v(\d+)(?:(alpha|beta)(\d+))?$")


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Sort versions as Kubernetes does: stable, beta, alpha, others; higher numbers first in each."""
    match = _VERSION.match(version)
    if not match:
        return (3, 0, 0, version)
    level = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return (level, -int(match[1]), -int(match[3] or 0), version)
