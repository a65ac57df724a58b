"""Pod disruption budgets."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, selector_text

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "policy"


def describe(writer: Writer, value: Object) -> None:
    """Write a budget."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    writer.name(value)
    if spec.get("minAvailable") is not None:
        writer.field("Min available", spec["minAvailable"])
    elif spec.get("maxUnavailable") is not None:
        writer.field("Max unavailable", spec["maxUnavailable"])
    writer.field(
        "Selector", selector_text(spec["selector"]) if spec.get("selector") is not None else "<unset>"
    )
    writer.line("Status:")
    for title, key in (
        ("Allowed disruptions", "disruptionsAllowed"), ("Current", "currentHealthy"), ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ):  # fmt: skip
        writer.field(title, status.get(key, 0), 2)
    writer.events()
