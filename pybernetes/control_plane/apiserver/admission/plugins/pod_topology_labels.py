"""PodTopologyLabels: a pod that has a node carries the zone and the region of it."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class PodTopologyLabels(Plugin):
    """The plugin."""

    name = "PodTopologyLabels"
    order = 310
    on_by_default = True
    scope = Scope(operations=(CREATE,), resources=("pods",), subresources=("", "binding"))

    def __init__(self, inputs: PluginInputs) -> None:
        self._nodes = Lookup(inputs.context, "", "nodes")

    def mutate(self, attributes: Attributes) -> None:
        """Copy the labels from the node to the pod, or to the binding, which passes them on."""
        assert attributes.obj is not None
        if attributes.subresource:
            target = attributes.obj.get("target") or {}
            name = target.get("name") if target.get("kind") == "Node" else None
        else:
            name = attributes.obj["spec"].get("nodeName")
        node = self._nodes.get("", name) if name else None
        if node is None:
            return
        labels = node["metadata"].get("labels") or {}
        topology = {key: labels[key] for key in _LABELS if key in labels}
        if topology:
            attributes.obj["metadata"].setdefault("labels", {}).update(topology)


PLUGIN = PodTopologyLabels
