"""DefaultTolerationSeconds: pods stay for a while on a node that is not ready or cannot be reached."""

from __future__ import annotations

from pybernetes.api.core.pod.tolerations import tolerate_for_a_while
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.lib.flags import Flag

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_FLAGS = {
    NOT_READY: Flag(
        "default-not-ready-toleration-seconds",
        300,
        "how long pods stay on a node that is not ready unless they say",
    ),
    UNREACHABLE: Flag(
        "default-unreachable-toleration-seconds",
        300,
        "how long pods stay on an unreachable node unless they say",
    ),
}


class DefaultTolerationSeconds(Plugin):
    """Adds tolerations for as many seconds as the flags say."""

    name = "DefaultTolerationSeconds"
    order = 150
    on_by_default = True
    flags = tuple(_FLAGS.values())
    scope = Scope(resources=("pods",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._seconds = {taint: getattr(inputs.arguments, flag.attribute) for taint, flag in _FLAGS.items()}

    def mutate(self, attributes: Attributes) -> None:
        """Add the tolerations that the pod does not have in a form of its own."""
        assert attributes.obj is not None
        tolerate_for_a_while(attributes.obj["spec"], self._seconds)


PLUGIN = DefaultTolerationSeconds
