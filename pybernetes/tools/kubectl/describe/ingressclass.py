"""Ingress classes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "networking.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write an ingress class."""
    spec = value.get("spec") or {}
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.field("Controller", spec.get("controller", ""))
    writer.typed_reference("Parameters", spec.get("parameters"))
    writer.events()
