"""PodResizeValidator: a pod is not resized beyond what its node could ever give."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.placed_pods import PlacedPodPlugin
from pybernetes.control_plane.apiserver.admission.plugin import Scope

_OS = "kubernetes.io/os"


class PodResizeValidator(PlacedPodPlugin):
    """The plugin."""

    name = "PodResizeValidator"
    order = 330
    on_by_default = True
    scope = Scope(operations=(UPDATE,), resources=("pods",), subresources=("resize",))

    def judge(self, attributes: Attributes, pod: Object, old: Object, name: str) -> None:
        """Refuse what does not fit, and any resize where the node's system has none."""
        node = self.node(attributes, name)
        system = (node["metadata"].get("labels") or {}).get(_OS, "linux")
        if system != "linux":
            why = f"pod resize is only supported on linux nodes, node {go_format.quote(name)} is {go_format.quote(system)}"
            raise _because(attributes, why, "UnsupportedPlatform")
        requests = resource_totals.requests({"spec": pod["spec"]})
        allocatable = node.get("status", {}).get("allocatable") or {}
        problems = []
        for resource, number in (("cpu", quantity.milli), ("memory", quantity.integer)):
            wanted, there = requests.get(resource, "0"), allocatable.get(resource, "0")
            if quantity.parse(wanted) > quantity.parse(there):
                problems.append(f"{resource}, requested: {number(wanted)}, allocatable: {number(there)}")
        if problems:
            why = f"node didn't have enough allocatable resources: {'; '.join(problems)}"
            raise _because(attributes, why, "NodeCapacity")


def _because(attributes: Attributes, why: str, reason: str) -> Exception:
    error = attributes.forbidden(why)
    error.details = {**(error.details or {}), "causes": [{"reason": reason}]}
    return error


PLUGIN = PodResizeValidator
