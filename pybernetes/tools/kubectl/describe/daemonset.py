"""Daemon sets."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._pods import template
from pybernetes.tools.kubectl.describe._writer import Writer, label_text
from pybernetes.tools.kubectl.resources.label_selector import show

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "apps"

_COUNTS = (
    ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
    ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
    ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
    ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
    ("Number of Nodes Misscheduled", "numberMisscheduled"),
)


def describe(writer: Writer, value: Object) -> None:
    """Write a daemon set."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    selector = show(spec.get("selector"))
    writer.name(value)
    writer.field("Selector", selector)
    writer.field(
        "Node-Selector", label_text(((spec.get("template") or {}).get("spec") or {}).get("nodeSelector"))
    )
    writer.marks(value)
    for title, key in _COUNTS:
        writer.line(f"{title}: {status.get(key, 0)}")
    writer.field("Pods Status", writer.pod_counts(value, selector))
    template(writer, spec.get("template"))
    writer.events()
