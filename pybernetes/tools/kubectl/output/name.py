"""Prints ``kind.group/name`` and what was done with it."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.output.printers import Print

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def label(value: Object) -> str:
    """Return how messages name an object."""
    group = str(value.get("apiVersion") or "").rpartition("/")[0]
    kind = str(value.get("kind") or "<unknown>").lower()
    name = (value.get("metadata") or {}).get("name") or "<unknown>"
    return f"{kind}.{group}/{name}" if group else f"{kind}/{name}"


def printer(context: Context, operation: str = "") -> Print:
    """Return a printer of one line for each object."""
    suffix = f" {operation}" if operation else ""

    def show(value: Object) -> None:
        if "kind" not in value and isinstance(value.get("object"), dict):  # a watch event
            value = value["object"]
        if isinstance(value.get("items"), list):
            for item in value["items"]:
                show(item)
            return
        context.out(f"{label(value)}{suffix}")

    return show
