"""Figures of the metrics API, and how they are printed."""

from __future__ import annotations

from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.discovery import Resource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pybernetes.api.resource import Object

GROUP = "metrics.k8s.io"
UNKNOWN = "<unknown>"
Usage = dict[str, Fraction]


def resource(context: Context, plural: str) -> Resource:
    """Return the resource of the metrics API; an error if the cluster has none."""
    for listed in (context.discovery.resources, context.discovery.refresh):
        for known in listed():
            if known.group == GROUP and known.plural == plural:
                return known
    raise CommandError("Metrics API not available")


def measured(show_swap: bool) -> list[str]:
    """Return the names of what is printed."""
    return ["cpu", "memory", "swap"] if show_swap else ["cpu", "memory"]


def total(usages: Iterable[Object]) -> Usage:
    """Return the exact sum of what was used, by resource."""
    result = dict.fromkeys(("cpu", "memory", "swap"), Fraction(0))
    for usage in usages:
        for name in result:
            result[name] += quantity.parse(usage.get(name) or "0")
    return result


def cell(name: str, used: Fraction) -> str:
    """Return a figure as it is printed: thousandths of cores rounded up, or whole mebibytes."""
    return f"{-(-used * 1000 // 1)}m" if name == "cpu" else f"{-(-used // 1) // 2**20}Mi"


def share(used: Fraction, available: Fraction) -> str:
    """Return which part of what there is was used."""
    millis, whole = -(-used * 1000 // 1), -(-available * 1000 // 1)
    return f"{int(float(millis) / float(whole) * 100)}%" if available else "0%"


def check_sort(by: str) -> None:
    """Refuse to sort by anything but cpu and memory."""
    if by not in ("", "cpu", "memory"):
        raise CommandError("--sort-by accepts only cpu or memory")
