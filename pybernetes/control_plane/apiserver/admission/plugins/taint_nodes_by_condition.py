"""TaintNodesByCondition: a new node takes no pods until it is known to be ready."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.admission.chain import CREATE, Attributes, Scope
from pybernetes.control_plane.apiserver.context import ServerContext

_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition:
    """The plugin."""

    name = "TaintNodesByCondition"
    scope = Scope(operations=(CREATE,), resources=("nodes",))

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        pass

    def mutate(self, attributes: Attributes) -> None:
        """Adds the taint, unless it is there; a controller takes it off again."""
        assert attributes.obj is not None
        taints = attributes.obj.setdefault("spec", {}).setdefault("taints", [])
        if not any((each.get("key"), each.get("effect")) == tuple(_NOT_READY.values()) for each in taints):
            taints.append(dict(_NOT_READY))


PLUGIN = TaintNodesByCondition
