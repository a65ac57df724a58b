"""random: any of them will do."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.control_plane.autoscaler.scale_up.estimator import Option
from pybernetes.control_plane.autoscaler.scale_up.expander import Context

SUMMARY = "chance decides"


async def best(options: Sequence[Option], context: Context) -> list[Option]:
    """Return one option by chance."""
    return [context.chance.choice(options)] if options else []
