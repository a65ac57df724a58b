"""Storage drivers of nodes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, shown
from pybernetes.tools.kubectl.output.times import rfc1123z

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "storage.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write the drivers of a node."""
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.field("CreationTimestamp", rfc1123z(value["metadata"].get("creationTimestamp")))
    writer.line("Spec:")
    drivers = (value.get("spec") or {}).get("drivers")
    if drivers is not None:
        writer.line("Drivers:", 1)
        for driver in drivers:
            writer.line(f"{driver['name']}:", 2)
            writer.field("Node ID", driver.get("nodeID", ""), 3)
            if (driver.get("allocatable") or {}).get("count") is not None:
                writer.line("Allocatables:", 3)
                writer.field("Count", driver["allocatable"]["count"], 4)
            if driver.get("topologyKeys") is not None:
                writer.field("Topology Keys", shown(driver["topologyKeys"]), 3)
    writer.events()
