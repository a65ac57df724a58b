"""DefaultTolerationSeconds: pods stay for a while on a node that is not ready or cannot be reached."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.admission.chain import Attributes, Scope
from pybernetes.control_plane.apiserver.context import ServerContext

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
SECONDS = 300


class DefaultTolerationSeconds:
    """The plugin; its configuration is the seconds by taint, which flags give."""

    name = "DefaultTolerationSeconds"
    scope = Scope(resources=("pods",))

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        given = configuration or {}
        self._seconds = {key: given.get(key, SECONDS) for key in (NOT_READY, UNREACHABLE)}

    def mutate(self, attributes: Attributes) -> None:
        """Adds the tolerations that the pod does not have in a form of its own."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        tolerations = spec.get("tolerations") or []
        tolerated = {
            each.get("key", "") for each in tolerations if each.get("effect", "") in ("", "NoExecute")
        }
        if "" in tolerated:
            return
        for key, seconds in self._seconds.items():
            if key not in tolerated:
                tolerations.append(
                    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
                )
        spec["tolerations"] = tolerations


PLUGIN = DefaultTolerationSeconds
