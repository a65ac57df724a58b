"""Objects as rows: the ``Table`` form that kubectl prints."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.selectors import SelectorError, from_object
from pybernetes.api.text.durations import human_duration
from pybernetes.lib import rfc3339

# The length of a timestamp up to its seconds.
_SECONDS = len("2006-01-02T15:04:05")


def epoch(timestamp: str) -> float:
    """Return the seconds since the epoch of an RFC 3339 timestamp in UTC (fractions are dropped)."""
    whole = timestamp[:_SECONDS]
    if len(whole) < _SECONDS:
        raise ValueError(f"not a timestamp: {timestamp!r}")
    return rfc3339.parse(whole)


def since(timestamp: str | None, now: float) -> str:
    """Return how long ago a timestamp was, or ``<unknown>``."""
    return human_duration(now - epoch(timestamp)) if timestamp else "<unknown>"


NAME = Column("Name", ".metadata.name", format="name",
              description="Name must be unique within a namespace.")  # fmt: skip
AGE = Column(
    "Age",
    lambda obj, now: since(obj["metadata"].get("creationTimestamp"), now),
    description="The time since the object was created.",
)
# What a kind prints that names no columns of its own.
PLAIN = (
    NAME,
    Column("Created At", ".metadata.creationTimestamp", type="date", description="When it was created."),
)


def format_labels(labels: dict[str, str] | None) -> str:
    """Return labels or a plain selector as a cell shows them."""
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) if labels else "<none>"


def format_selector(selector: Object | None) -> str:
    """Return a LabelSelector as a cell shows it."""
    try:
        return str(from_object(selector)) or "<none>"
    except SelectorError:
        return "<error>"


def container_cells(containers: list[Object] | None) -> tuple[str, str]:
    """Return the names and the images of containers, as the wide columns of workloads show them."""
    items = containers or []
    return ",".join(container.get("name", "") for container in items), ",".join(
        container.get("image", "") for container in items
    )


def get(obj: Any, path: str, default: Any = None) -> Any:
    """Return the value at a dotted path such as ``.spec.replicas``, or the default."""
    for part in path.strip(".").split("."):
        if not isinstance(obj, dict) or part not in obj:
            return default
        obj = obj[part]
    return obj


def cells(columns: tuple[Column, ...], obj: Object, now: float) -> list[Any]:
    """Return the cells of one object's row."""
    return [
        get(obj, column.cell) if isinstance(column.cell, str) else column.cell(obj, now) for column in columns
    ]


def definitions(resource: Resource) -> list[Object]:
    """Return the ``columnDefinitions`` of a kind."""
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": column.description,
            "priority": column.priority,
        }
        for column in resource.columns or PLAIN
    ]
