"""Taint eviction: deletes pods from nodes with a NoExecute taint, once they no longer tolerate it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pybernetes.api.core.pod.placement import tolerates
from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, Invalid, NotFound
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import by_node
from pybernetes.lib import rfc3339
from pybernetes.runtime.cache import key_of, split_key
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime


def no_execute(node: Object | None) -> list[Object]:
    """Return the NoExecute taints of a node."""
    if node is None:
        return []
    return [taint for taint in node["spec"].get("taints") or () if taint["effect"] == "NoExecute"]


def tolerated_seconds(taints: Iterable[Object], tolerations: Iterable[Object]) -> float:
    """Return how long a pod may stay on a node with these taints: 0 for not at all, infinity for ever."""
    shortest = math.inf
    own = list(tolerations)
    for taint in taints:
        used = next((toleration for toleration in own if tolerates(toleration, taint)), None)
        if used is None:
            return 0.0
        if used.get("tolerationSeconds") is not None:
            shortest = min(shortest, max(0.0, float(used["tolerationSeconds"])))
    return shortest


class TaintEvictionController(Controller):
    """Works on keys of pods."""

    name = "taint-eviction-controller"
    kind = PODS
    indexes = {PODS: (by_node,)}
    workers = 8

    def __init__(self, runtime: Runtime) -> None:
        self._since: dict[
            str, float
        ] = {}  # when pods were found on a tainted node that they tolerate for a while
        super().__init__(runtime)
        self._recorder = runtime.recorder(self.name)
        self.cache(NODES).add_handler(self._node_changed)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            return key_of(old) in self._since  # type: ignore[arg-type]
        node = new["spec"].get("nodeName")
        if not node or not no_execute(self.cache(NODES).get(node)):
            return False
        return old is None or (
            old["spec"].get("nodeName") != node
            or old["spec"].get("tolerations") != new["spec"].get("tolerations")
        )

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        if new is not None and no_execute(old) != no_execute(new):
            for key in self.cache(PODS).find_keys(by_node, new["metadata"]["name"]):
                self.enqueue(key)

    async def reconcile(self, key: str) -> float | None:
        """Delete a pod whose time on its node is over; return in how many seconds it will be otherwise."""
        pod = self.objects.get(key)
        if pod is None or is_being_deleted(pod):
            self._cancel(key, pod)
            return None
        taints = no_execute(self.cache(NODES).get(pod["spec"].get("nodeName", "")))
        seconds = tolerated_seconds(taints, pod["spec"].get("tolerations") or ())
        if seconds == math.inf:
            self._cancel(key, pod)
            return None
        now = self.clock.monotonic()
        if seconds > 0:
            due = self._since.setdefault(key, now) + seconds
            if due > now:
                return due - now
        await self._evict(key, pod)
        self._since.pop(key, None)
        return None

    def _cancel(self, key: str, pod: Object | None) -> None:
        if self._since.pop(key, None) is not None:
            self._report(key, pod, "Cancelling deletion of Pod")

    def _report(self, key: str, pod: Object | None, what: str) -> None:
        namespace, name = split_key(key)
        meta: Object = pod["metadata"] if pod is not None else {"namespace": namespace, "name": name}
        about = {"kind": "Pod", "apiVersion": "v1", "metadata": meta}
        self._recorder.normal(about, "TaintManagerEviction", f"{what} {key}")

    async def _evict(self, key: str, pod: Object) -> None:
        self._report(key, pod, "Marking for deletion Pod")
        namespace, name = split_key(key)
        uid = pod["metadata"]["uid"]
        try:
            known = condition_of(pod, "DisruptionTarget")
            if known is None or known["status"] != "True" or known.get("reason") != "DeletionByTaintManager":
                target = {
                    "type": "DisruptionTarget",
                    "status": "True",
                    "lastTransitionTime": rfc3339.seconds(self.clock.now()),
                    "reason": "DeletionByTaintManager",
                    "message": "Taint manager: deleting due to NoExecute taint",
                }
                patch = {"metadata": {"uid": uid}, "status": {"conditions": [target]}}
                await self.client.patch_status(PODS, name, patch, namespace)
            await self.client.delete(PODS, name, namespace, uid=uid)
        except NotFound:
            pass
        except (Conflict, Invalid):
            live = await self.client.get(PODS, name, namespace)
            if live["metadata"]["uid"] == uid:
                raise


CONTROLLER = Descriptor(
    name=TaintEvictionController.name,
    identity="node-controller",
    build=lambda runtime, options: TaintEvictionController(runtime),
)
