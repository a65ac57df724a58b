"""Which plugins there are: one file each in ``plugins``, found by its name."""

from __future__ import annotations

from pybernetes.control_plane.descheduler.plugin import Plugin
from pybernetes.lib.discover import discover

PACKAGE = "pybernetes.control_plane.descheduler.plugins"


def known_plugins() -> dict[str, type[Plugin]]:
    """Return every plugin by its name."""
    return discover(PACKAGE, "PLUGIN", key=lambda plugin: plugin.name)
