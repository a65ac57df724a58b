"""Limit ranges."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""

COLUMNS = ("Type", "Resource", "Min", "Max", "Default Request", "Default Limit", "Max Limit/Request Ratio")


def describe(writer: Writer, value: Object) -> None:
    """Write limits, a line for each resource of each type."""
    writer.name(value)
    writer.heading(*COLUMNS, level=0)
    limits(writer, value, "")


def limits(writer: Writer, value: Object, prefix: str) -> None:
    """Write the lines of the limits."""
    for limit in (value.get("spec") or {}).get("limits") or ():
        columns = [
            limit.get(key) or {}
            for key in ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")
        ]
        for name in sorted({name for column in columns for name in column}):
            cells = [prefix + limit.get("type", ""), name, *(column.get(name, "-") for column in columns)]
            writer.line("\t".join(cells))
