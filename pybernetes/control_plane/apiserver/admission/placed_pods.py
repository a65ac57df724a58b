"""What plugins share that judge a change of a pod by the node that it is on."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs


class PlacedPodPlugin(Plugin):
    """Calls ``judge`` for every write that gives a pod which has a node another specification."""

    def __init__(self, inputs: PluginInputs) -> None:
        self._nodes = Lookup(inputs.context, "", "nodes")

    def validate(self, attributes: Attributes) -> None:
        """Have the write judged, if it is one."""
        pod, old = attributes.obj, attributes.old
        assert pod is not None and old is not None
        name = pod["spec"].get("nodeName")
        if name and pod["metadata"].get("generation") != old["metadata"].get("generation"):
            self.judge(attributes, pod, old, name)

    def judge(self, attributes: Attributes, pod: Object, old: Object, name: str) -> None:
        """Refuse the change if the node of this name does not bear it."""
        raise NotImplementedError

    def node(self, attributes: Attributes, name: str) -> Object:
        """Return the node of a pod; refuse the write if there is none."""
        node = self._nodes.get("", name)
        if node is None:
            attributes.refuse(f"node {go_format.quote(name)} not found")
        return node
