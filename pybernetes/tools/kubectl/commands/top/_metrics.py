"""Figures of the metrics API."""

from __future__ import annotations

from typing import Any

from pybernetes.api.quantity import integer, milli
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.discovery import Resource

GROUP = "metrics.k8s.io"


def resource(context: Context, plural: str) -> Resource:
    """The resource of the metrics API; an error if the cluster has none."""
    for listed in (context.discovery.resources, context.discovery.refresh):
        for each in listed():
            if each.group == GROUP and each.plural == plural:
                return each
    raise CommandError("Metrics API not available")


def cpu(usage: dict[str, Any]) -> int:
    """Thousandths of a CPU."""
    return milli(usage.get("cpu") or "0")


def memory(usage: dict[str, Any]) -> int:
    """Bytes."""
    return integer(usage.get("memory") or "0")


def cells(millis: int, size: int) -> list[str]:
    """Both as they are shown."""
    return [f"{millis}m", f"{size // 2**20}Mi"]


def check_sort(by: str) -> None:
    """Only cpu and memory can be sorted by."""
    if by not in ("", "cpu", "memory"):
        raise CommandError("--sort-by accepts only cpu or memory")
