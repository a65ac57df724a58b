"""AlwaysAdmit: lets everything in, as every chain does that refuses nothing."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.admission.chain import Scope
from pybernetes.control_plane.apiserver.context import ServerContext


class AlwaysAdmit:
    """The plugin."""

    name = "AlwaysAdmit"
    scope = Scope(operations=())

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        pass


PLUGIN = AlwaysAdmit
