"""Storage drivers of nodes."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.describe._writer import Writer, shown
from pybernetes.tools.kubectl.output.times import rfc1123z


def describe(writer: Writer, value: dict[str, Any]) -> None:
    """Writes the drivers of a node."""
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.field("CreationTimestamp", rfc1123z(value["metadata"].get("creationTimestamp")))
    writer.line("Spec:")
    drivers = (value.get("spec") or {}).get("drivers")
    if drivers is not None:
        writer.line("Drivers:", 1)
        for each in drivers:
            writer.line(f"{each['name']}:", 2)
            writer.field("Node ID", each.get("nodeID", ""), 3)
            if (each.get("allocatable") or {}).get("count") is not None:
                writer.line("Allocatables:", 3)
                writer.field("Count", each["allocatable"]["count"], 4)
            if each.get("topologyKeys") is not None:
                writer.field("Topology Keys", shown(each["topologyKeys"]), 3)
    writer.events()
