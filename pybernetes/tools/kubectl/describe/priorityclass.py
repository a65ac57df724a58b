"""Priority classes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, label_text, shown

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "scheduling.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write a priority class."""
    writer.name(value, namespace=False)
    writer.field("Value", value.get("value", 0))
    writer.field("GlobalDefault", shown(bool(value.get("globalDefault"))))
    writer.field("PreemptionPolicy", value.get("preemptionPolicy", ""))
    writer.field("Description", value.get("description", ""))
    writer.field("Annotations", label_text(value["metadata"].get("annotations")))
    writer.events()
