"""most-pods: the group whose nodes take the most pods."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.control_plane.autoscaler.scale_up.estimator import Option
from pybernetes.control_plane.autoscaler.scale_up.expander import Context

SUMMARY = "the group that would take the most pods"


async def best(options: Sequence[Option], context: Context) -> list[Option]:
    """Return the options that help the most pods."""
    most = max((len(option.pods) for option in options), default=0)
    return [option for option in options if len(option.pods) == most]
