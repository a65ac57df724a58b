"""least-waste: the group with the least idle cores and memory afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.control_plane.autoscaler.scale_up.estimator import Option
from pybernetes.control_plane.autoscaler.scale_up.expander import Context

SUMMARY = "the group that would have the least idle cores and memory"


def waste(option: Option) -> float:
    """Return the shares of new cores and memory that no pod asks for, added up."""
    total = 0.0
    for resource, amount in ((0, option.template.cores), (1, option.template.memory)):
        available = amount * option.nodes
        asked = sum(pod.requests.amount(resource) for pod in option.pods)
        total += (available - asked) / available if available else 0.0
    return total


async def best(options: Sequence[Option], context: Context) -> list[Option]:
    """Return the options with the least waste."""
    least = min(map(waste, options), default=0.0)
    return [option for option in options if waste(option) == least]
