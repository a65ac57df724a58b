"""Which plugins there are: one file each in ``plugins``, found by its name."""

from __future__ import annotations

from pybernetes.lib.discover import discover
from pybernetes.scheduling.plugin import Plugin

PACKAGE = "pybernetes.scheduling.plugins"


def known_plugins() -> dict[str, type[Plugin]]:
    """Return every plugin by its name."""
    return discover(PACKAGE, "PLUGIN", key=lambda plugin: plugin.name)
