"""NodeDeclaredFeatureValidator: a pod is not changed in ways that its node does not know of."""

from __future__ import annotations

from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.control_plane.apiserver.admission.plugins._changed_pods import changed_pod

Fields = dict[str, Any]


def _pod_resources(new: Fields, old: Fields) -> bool:
    return (new.get("resources") or None) != (old.get("resources") or None)


def _init_containers(new: Fields, old: Fields) -> bool:
    pairs = zip(new.get("initContainers") or (), old.get("initContainers") or (), strict=False)
    return any(
        not is_restartable(before) and (after.get("resources") or {}) != (before.get("resources") or {})
        for after, before in pairs
    )


def _memory_volumes(new: Fields, old: Fields) -> bool:
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


class NodeDeclaredFeatureValidator(Plugin):
    """The plugin."""

    name = "NodeDeclaredFeatureValidator"
    order = 320
    on_by_default = True
    scope = Scope(operations=(UPDATE,), resources=("pods",), subresources=("", "resize"))

    def __init__(self, inputs: PluginInputs) -> None:
        self._nodes = Lookup(inputs.context, "", "nodes")

    def validate(self, attributes: Attributes) -> None:
        """Refuse a change that needs what the node does not declare."""
        changed = changed_pod(attributes)
        if changed is None:
            return
        pod, old, name = changed
        needed = [feature for feature, changes in _NEEDS.items() if changes(pod["spec"], old["spec"])]
        if not needed:
            return
        node = self._nodes.get("", name)
        if node is None:
            attributes.refuse(f"node {go_format.quote(name)} not found")
        declared = node.get("status", {}).get("declaredFeatures") or ()
        missing = [feature for feature in needed if feature not in declared]
        if missing:
            listed = ", ".join(missing)
            attributes.refuse(
                f"pod update requires features {listed} which are not available on node {go_format.quote(name)}"
            )


PLUGIN = NodeDeclaredFeatureValidator
