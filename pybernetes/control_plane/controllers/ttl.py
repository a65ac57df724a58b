"""TTL: tells kubelets how long they may cache secrets and config maps; longer in larger clusters."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import NODES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

ANNOTATION = "node.alpha.kubernetes.io/ttl"
# Up to how many nodes a step holds, from how many on the next one may go back to it, and its seconds.
_STEPS = ((100, 90, 0), (500, 450, 15), (1000, 900, 30), (2000, 1800, 60), (1 << 31, 0, 300))


def step(nodes: int, current: int) -> int:
    """Return the step for a number of nodes; steps down begin a little later than steps up."""
    while nodes > _STEPS[current][0]:
        current += 1
    while current and nodes < _STEPS[current - 1][1]:
        current -= 1
    return current


class TTLController(Controller):
    """Works on names of nodes."""

    name = "ttl-controller"
    kind = NODES

    def __init__(self, runtime: Runtime) -> None:
        self._step = 0
        super().__init__(runtime)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if old is None or new is None:
            before, self._step = self._step, step(len(self.objects), self._step)
            if before != self._step:
                for key in list(self.objects.keys()):
                    self.enqueue(key)
            return new is not None
        return old["metadata"].get("annotations") != new["metadata"].get("annotations")

    async def reconcile(self, key: str) -> None:
        """Set the annotation of a node, if it differs."""
        node = self.objects.get(key)
        seconds = str(_STEPS[self._step][2])
        if node is None or (node["metadata"].get("annotations") or {}).get(ANNOTATION) == seconds:
            return
        try:
            await self.client.patch(NODES, key, {"metadata": {"annotations": {ANNOTATION: seconds}}})
        except NotFound:
            pass


CONTROLLER = Descriptor(
    name=TTLController.name,
    aliases=("ttl",),
    identity="ttl-controller",
    build=lambda runtime, options: TTLController(runtime),
)
