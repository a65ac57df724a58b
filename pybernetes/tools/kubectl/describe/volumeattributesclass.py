"""Classes of volume attributes."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.describe._writer import Writer, label_text

GROUP = "storage.k8s.io"


def describe(writer: Writer, value: dict[str, Any]) -> None:
    """Write a class."""
    writer.name(value, namespace=False)
    writer.field("Annotations", label_text(value["metadata"].get("annotations")))
    writer.field("DriverName", value.get("driverName", ""))
    writer.field("Parameters", label_text(value.get("parameters")))
    writer.events()
