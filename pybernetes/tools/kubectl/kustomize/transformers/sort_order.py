"""Sorts objects: kinds that others need first, webhooks last."""

from __future__ import annotations

from functools import cmp_to_key

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.resid import ResId, default_orders, type_order

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


def sort(resources: ResourceList, options: dict[str, Any]) -> None:
    """Bring objects into the order that the options say."""
    order, legacy = options.get("order", ""), options.get("legacySortOptions")
    if order not in ("fifo", "legacy"):
        raise BuildError("the field 'sortOptions.order' must be one of [fifo, legacy]")
    if order == "fifo":
        if legacy is not None:
            raise BuildError(
                "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'"
            )
        return
    first, last = default_orders()
    if legacy is not None:
        first, last = legacy.get("orderFirst") or [], legacy.get("orderLast") or []

    def compare(left: ResId, right: ResId) -> int:
        if left.gvk == right.gvk:
            return _compare(_text(left), _text(right))
        orders = type_order(left.gvk.kind, first, last), type_order(right.gvk.kind, first, last)
        if orders[0] != orders[1]:
            return orders[0] - orders[1]
        texts = left.gvk.sort_text(), right.gvk.sort_text()
        if left.gvk.kind == right.gvk.kind == "Namespace" and not (left.gvk.group and right.gvk.group):
            return _compare(texts[1], texts[0])
        return _compare(*texts)

    key = cmp_to_key(compare)
    resources.items.sort(key=lambda resource: key(resource.id))


def _text(resource_id: ResId) -> str:
    return f"{resource_id.gvk}|{resource_id.namespace or '~X'}|{resource_id.name or '~N'}"


def _compare(left: str, right: str) -> int:
    return (left.encode() > right.encode()) - (left.encode() < right.encode())
