"""Service address ranges."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer
from pybernetes.tools.kubectl.output.times import rfc1123z

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "networking.k8s.io"


def describe(writer: Writer, value: Object) -> None:
    """Write a range."""
    writer.name(value, namespace=False)
    writer.marks(value)
    writer.field("CIDRs", ", ".join((value.get("spec") or {}).get("cidrs") or ()))
    conditions = (value.get("status") or {}).get("conditions")
    if conditions:
        writer.line("Status:")
        writer.line("Conditions:")
        writer.heading("Type", "Status", "LastTransitionTime", "Reason", "Message")
        for condition in conditions:
            moment = rfc1123z(condition.get("lastTransitionTime"))
            writer.line(
                f"{condition['type']}\t{condition['status']}\t{moment}\t{condition.get('reason', '')}\t{condition.get('message', '')}",
                1,
            )
    writer.events()
