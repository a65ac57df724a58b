"""TaintNodesByCondition: a new node takes no pods until it is known to be ready."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope

_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(Plugin):
    """The plugin."""

    name = "TaintNodesByCondition"
    order = 90
    on_by_default = True
    scope = Scope(operations=(CREATE,), resources=("nodes",))

    def mutate(self, attributes: Attributes) -> None:
        """Add the taint, unless it is there; a controller takes it off again."""
        assert attributes.obj is not None
        taints = attributes.obj.setdefault("spec", {}).setdefault("taints", [])
        if not any((taint.get("key"), taint.get("effect")) == tuple(_NOT_READY.values()) for taint in taints):
            taints.append(dict(_NOT_READY))


PLUGIN = TaintNodesByCondition
