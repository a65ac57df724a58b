"""Figures of the metrics API."""

from __future__ import annotations

from pybernetes.api.quantity import integer, milli
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.discovery import Resource

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "metrics.k8s.io"


def resource(context: Context, plural: str) -> Resource:
    """Return the resource of the metrics API; an error if the cluster has none."""
    for listed in (context.discovery.resources, context.discovery.refresh):
        for known in listed():
            if known.group == GROUP and known.plural == plural:
                return known
    raise CommandError("Metrics API not available")


def cpu(usage: Object) -> int:
    """Return the CPU usage in thousandths of a core."""
    return milli(usage.get("cpu") or "0")


def memory(usage: Object) -> int:
    """Return the memory usage in bytes."""
    return integer(usage.get("memory") or "0")


def cells(millis: int, size: int) -> list[str]:
    """Return CPU and memory as they are printed."""
    return [f"{millis}m", f"{size // 2**20}Mi"]


def check_sort(by: str) -> None:
    """Refuse to sort by anything but cpu and memory."""
    if by not in ("", "cpu", "memory"):
        raise CommandError("--sort-by accepts only cpu or memory")
