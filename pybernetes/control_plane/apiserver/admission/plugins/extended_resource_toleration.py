"""ExtendedResourceToleration: pods that ask for devices tolerate the taints that keep others off their nodes."""

from __future__ import annotations

from pybernetes.api.core.pod import tolerations
from pybernetes.api.validation.resources import is_extended
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope


class ExtendedResourceToleration(Plugin):
    """The plugin."""

    name = "ExtendedResourceToleration"
    order = 180
    scope = Scope(resources=("pods",))

    def mutate(self, attributes: Attributes) -> None:
        """Add a toleration named like each extended resource."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        names = {
            name
            for key in ("containers", "initContainers")
            for container in spec.get(key) or ()
            for name in (container.get("resources") or {}).get("requests") or ()
            if is_extended(name)
        }
        for name in sorted(names):
            wanted = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
            spec["tolerations"] = tolerations.put(spec.get("tolerations") or [], wanted)


PLUGIN = ExtendedResourceToleration
