"""AlwaysAdmit: lets everything in, as every chain does that refuses nothing."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope


class AlwaysAdmit(Plugin):
    """The plugin."""

    name = "AlwaysAdmit"
    order = 10
    scope = Scope(operations=())


PLUGIN = AlwaysAdmit
