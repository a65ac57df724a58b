"""Pod garbage collector: force-deletes pods that nobody else will.

Those are pods on nodes that are gone or out of service, pods that are deleted before they had a node, and the oldest of
too many that have ended.
"""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.conditions import condition_of
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers._objects.pods import by_node, is_ready, is_terminal
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_QUARANTINE_SECONDS = 40.0
_COLLECT_SECONDS = 20.0
_AT_ONCE = 50
# Keys that name no pod.
_ENDED = "pods that have ended"
_NODE = "node "


def by_ended(pod: Object) -> tuple[str, ...]:
    """Index the pods that have ended."""
    return (_ENDED,) if is_terminal(pod) else ()


def is_out_of_service(node: Object | None) -> bool:
    """Return whether a node is tainted as out of service, and not ready."""
    if node is None or is_ready(node):
        return False
    return any(taint["key"] == _OUT_OF_SERVICE for taint in node["spec"].get("taints") or ())


def surplus(ended: list[Object], threshold: int) -> list[Object]:
    """Return the ended pods beyond the limit: evicted ones first, then the oldest."""
    if threshold <= 0 or len(ended) <= threshold:
        return []

    def order(pod: Object) -> tuple[bool, str, str]:
        meta = pod["metadata"]
        return pod["status"].get("reason") != "Evicted", meta["creationTimestamp"], meta["name"]

    return sorted(ended, key=order)[: len(ended) - threshold]


class PodGarbageCollector(Controller):
    """Works on keys of pods, on nodes, and on all pods that have ended."""

    name = "pod-garbage-collector-controller"
    indexes = {PODS: (by_node, by_ended)}

    def __init__(self, runtime: Runtime, threshold: int = 12500) -> None:
        super().__init__(runtime)
        self._threshold = threshold
        self.cache(NODES).add_handler(self._node_changed)
        self.cache(PODS).add_handler(self._pod_changed)

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None:
            return
        node = new["spec"].get("nodeName")
        if is_being_deleted(new) and (not node or is_out_of_service(self.cache(NODES).get(node))):
            self.enqueue(key_of(new))
        elif node and (old is None or old["spec"].get("nodeName") != node) and node not in self.cache(NODES):
            self.enqueue(_NODE + node, _QUARANTINE_SECONDS)
        if self._threshold > 0 and self.cache(PODS).count(by_ended, _ENDED) > self._threshold:
            self.enqueue(_ENDED, _COLLECT_SECONDS)

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None:
            self.enqueue(_NODE + old["metadata"]["name"], _QUARANTINE_SECONDS)  # type: ignore[index]
        elif is_out_of_service(new) and not is_out_of_service(old):
            for pod in self.cache(PODS).find(by_node, new["metadata"]["name"]):
                if is_being_deleted(pod):
                    self.enqueue(key_of(pod))

    async def reconcile(self, key: str) -> None:
        """Delete what a key stands for."""
        if key == _ENDED:
            await self._delete_all(surplus(self.cache(PODS).find(by_ended, _ENDED), self._threshold))
        elif key.startswith(_NODE):
            await self._check_node(key.removeprefix(_NODE))
        else:
            pod = self.cache(PODS).get(key)
            if pod is None or not is_being_deleted(pod):
                return
            node = pod["spec"].get("nodeName")
            if not node or is_out_of_service(self.cache(NODES).get(node)):
                await self._delete(pod)

    async def _check_node(self, name: str) -> None:
        """Delete the pods of a node that is gone, after asking the server."""
        pods = self.cache(PODS).find(by_node, name)
        if not pods or name in self.cache(NODES):
            return
        try:
            await self.client.get(NODES, name)
        except NotFound:
            await self._delete_all(pods, "PodGC: node no longer exists")

    async def _delete_all(self, pods: list[Object], message: str = "") -> None:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def delete(pod: Object) -> None:
            async with slots:
                await self._delete(pod, message)

        await asyncio.gather(*map(delete, pods))

    async def _delete(self, pod: Object, message: str = "") -> None:
        """Mark a pod as failed, if it has not ended, and delete it without grace."""
        meta = pod["metadata"]
        status: Object = {} if is_terminal(pod) else {"phase": "Failed"}
        if message and (condition_of(pod, "DisruptionTarget") or {}).get("status") != "True":
            status["conditions"] = [
                {
                    "type": "DisruptionTarget",
                    "status": "True",
                    "lastTransitionTime": rfc3339.seconds(self.clock.now()),
                    "reason": "DeletionByPodGC",
                    "message": message,
                }
            ]
        try:
            if status:
                patch = {"metadata": {"uid": meta["uid"]}, "status": status}
                await self.client.patch_status(PODS, meta["name"], patch, meta["namespace"])
            await self.client.delete(PODS, meta["name"], meta["namespace"], uid=meta["uid"], grace=0)
        except NotFound:
            pass


CONTROLLER = Descriptor(
    name=PodGarbageCollector.name,
    aliases=("podgc",),
    identity="pod-garbage-collector",
    flags=(
        Flag("terminated-pod-gc-threshold", 12500, "how many pods that have ended may stay; 0 for no limit"),
    ),
    build=lambda runtime, options: PodGarbageCollector(runtime, options.terminated_pod_gc_threshold),
)
