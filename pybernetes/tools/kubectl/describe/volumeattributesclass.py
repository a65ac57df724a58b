"""Classes of volume attributes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, label_text

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "storage.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write a class."""
    writer.name(value, namespace=False)
    writer.field("Annotations", label_text(value["metadata"].get("annotations")))
    writer.field("DriverName", value.get("driverName", ""))
    writer.field("Parameters", label_text(value.get("parameters")))
    writer.events()
