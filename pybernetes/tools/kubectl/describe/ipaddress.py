"""Addresses of services."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "networking.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write an address and the object that has it."""
    writer.name(value, namespace=False)
    writer.marks(value)
    parent = (value.get("spec") or {}).get("parentRef")
    if parent:
        writer.line("Parent Reference:")
        for title in ("Group", "Resource", "Namespace", "Name"):
            writer.field(title, parent.get(title.lower(), ""), 1)
    writer.events()
