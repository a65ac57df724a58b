"""NodeDeclaredFeatureValidator: a pod is not changed in ways that its node does not know of."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.placed_pods import PlacedPodPlugin
from pybernetes.control_plane.apiserver.admission.plugin import Scope


def _pod_resources(new: Object, old: Object) -> bool:
    return (new.get("resources") or None) != (old.get("resources") or None)


def _init_containers(new: Object, old: Object) -> bool:
    pairs = zip(new.get("initContainers") or (), old.get("initContainers") or (), strict=False)
    return any(
        not is_restartable(before) and (after.get("resources") or {}) != (before.get("resources") or {})
        for after, before in pairs
    )


def _memory_volumes(new: Object, old: Object) -> bool:
    after, before = new.get("volumes") or [], old.get("volumes") or []
    if len(after) != len(before):
        return False
    for volume, its_old in zip(after, before, strict=True):
        directory, old_directory = volume.get("emptyDir") or {}, its_old.get("emptyDir") or {}
        if volume.get("name") != its_old.get("name") or directory.get("medium") != "Memory":
            continue
        size, old_size = directory.get("sizeLimit"), old_directory.get("sizeLimit")
        if size and old_size and quantity.parse(size) != quantity.parse(old_size):
            return True
    return False


# Which feature of a node a change of a pod's specification needs.
_NEEDS = {
    "InPlacePodLevelResourcesVerticalScaling": _pod_resources,
    "InPlacePodVerticalScalingInitContainers": _init_containers,
    "InPlacePodVerticalScalingMemoryBackedVolumes": _memory_volumes,
}


class NodeDeclaredFeatureValidator(PlacedPodPlugin):
    """The plugin."""

    name = "NodeDeclaredFeatureValidator"
    order = 320
    on_by_default = True
    scope = Scope(operations=(UPDATE,), resources=("pods",), subresources=("", "resize"))

    def judge(self, attributes: Attributes, pod: Object, old: Object, name: str) -> None:
        """Refuse a change that needs what the node does not declare."""
        needed = [feature for feature, changes in _NEEDS.items() if changes(pod["spec"], old["spec"])]
        if not needed:
            return
        node = self.node(attributes, name)
        declared = node.get("status", {}).get("declaredFeatures") or ()
        missing = [feature for feature in needed if feature not in declared]
        if missing:
            listed = ", ".join(missing)
            attributes.refuse(
                f"pod update requires features {listed} which are not available on node {go_format.quote(name)}"
            )


PLUGIN = NodeDeclaredFeatureValidator
