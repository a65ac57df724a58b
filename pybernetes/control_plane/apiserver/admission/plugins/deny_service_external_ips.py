"""DenyServiceExternalIPs: no service takes external addresses that it did not have before."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.admission.chain import Attributes, Scope
from pybernetes.control_plane.apiserver.context import ServerContext


class DenyServiceExternalIPs:
    """The plugin."""

    name = "DenyServiceExternalIPs"
    scope = Scope(resources=("services",))

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        pass

    def validate(self, attributes: Attributes) -> None:
        """Refuses new external addresses."""
        after, before = (
            set((each or {}).get("spec", {}).get("externalIPs") or ())
            for each in (attributes.obj, attributes.old)
        )
        if not after <= before:
            attributes.refuse("Use of external IPs is denied by admission control")


PLUGIN = DenyServiceExternalIPs
