"""LimitPodHardAntiAffinityTopology: pods keep others away from their node at most, not from a whole zone."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope

_HOST = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology(Plugin):
    """The plugin."""

    name = "LimitPodHardAntiAffinityTopology"
    order = 50
    scope = Scope(resources=("pods",))

    def validate(self, attributes: Attributes) -> None:
        """Refuse hard anti-affinity by another label than the host name."""
        pod = attributes.obj or {}
        rules = (pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            key = term.get("topologyKey", "")
            if key != _HOST:
                why = (
                    f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} "
                    f"but only key {_HOST} is allowed"
                )
                raise errors.forbidden("", "pods", pod["metadata"].get("name", ""), why)


PLUGIN = LimitPodHardAntiAffinityTopology
