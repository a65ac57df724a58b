"""DenyServiceExternalIPs: no service takes external addresses that it did not have before."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope


class DenyServiceExternalIPs(Plugin):
    """The plugin."""

    name = "DenyServiceExternalIPs"
    order = 300
    scope = Scope(resources=("services",))

    def validate(self, attributes: Attributes) -> None:
        """Refuse new external addresses."""
        after, before = (
            set((service or {}).get("spec", {}).get("externalIPs") or ())
            for service in (attributes.obj, attributes.old)
        )
        if not after <= before:
            attributes.refuse("Use of external IPs is denied by admission control")


PLUGIN = DenyServiceExternalIPs
