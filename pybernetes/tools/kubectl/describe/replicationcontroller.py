"""Replication controllers."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._pods import conditions, template
from pybernetes.tools.kubectl.describe._writer import Writer, label_text
from pybernetes.tools.kubectl.resources.label_selector import show_map

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""


def describe(writer: Writer, value: Object) -> None:
    """Write a replication controller."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    writer.name(value)
    writer.field("Selector", label_text(spec.get("selector")))
    writer.marks(value)
    writer.field("Replicas", f"{status.get('replicas', 0)} current / {spec.get('replicas')} desired")
    writer.field("Pods Status", writer.pod_counts(value, show_map(spec.get("selector"))))
    template(writer, spec.get("template"))
    conditions(writer, value)
    writer.events()
