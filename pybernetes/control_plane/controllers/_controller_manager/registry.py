"""All controllers of the kube-controller-manager together."""

from __future__ import annotations

from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib.discover import discover
from pybernetes.runtime.controller_manager.selection import add_all, flags, select

__all__ = ["PACKAGE", "add_all", "descriptors", "flags", "select"]

PACKAGE = "pybernetes.control_plane.controllers"


def descriptors() -> dict[str, Descriptor]:
    """Return every controller by its name."""
    return discover(PACKAGE, "CONTROLLER", key=lambda descriptor: descriptor.name)
