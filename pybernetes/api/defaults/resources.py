"""Defaults of resource lists."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.resource import Object


def default_resource_list(resources: dict[str, str]) -> None:
    """Round every quantity up to thousandths, the finest that resources are counted in."""
    for name, text in resources.items():
        # Only these canonical forms can hold less than a thousandth.
        if text and (text[-1] in "nu" or "e-" in text):
            resources[name] = quantity.round_up_milli(text)


def default_requirements(holder: Object) -> None:
    """Round the limits and requests of a ``resources`` field, if it is there."""
    resources = holder.get("resources")
    if resources:
        for key in ("limits", "requests"):
            if key in resources:
                default_resource_list(resources[key])
