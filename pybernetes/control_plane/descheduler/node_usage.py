"""What nodes and pods really use, as told by somebody who measures it."""

from __future__ import annotations

from typing import NamedTuple

Amounts = dict[str, int]  # by resource, in the units that the scheduler counts in


class Usage(NamedTuple):
    """Figures of one moment; ``pods`` is None where there are none of single pods."""

    nodes: dict[str, Amounts]  # by name
    pods: dict[str, Amounts] | None  # by namespace/name


class Source(NamedTuple):
    """Whom to ask: ``KubernetesMetrics``, or ``Prometheus`` with a query."""

    name: str
    query: str = ""
