"""The pods that the API server has bound to the node, mirror pods included."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import PODS
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.pod.pod_workers import PodWorkers
from pybernetes.node.kubelet.pod_kinds import MIRROR, SOURCE, is_mirror
from pybernetes.node.kubelet.status.status_manager import StatusManager
from pybernetes.runtime.informer import Informer


def from_api(pod: Object) -> Object:
    """Drop the managed fields of a pod, which the kubelet never reads, and what it says of where it comes from.

    Managed fields are as large as the rest. That a pod is static is not for its author to say: such pods are not
    evicted, and others are preempted for them.
    """
    meta = pod["metadata"]
    meta.pop("managedFields", None)
    if SOURCE in (meta.get("annotations") or ()):
        meta["annotations"] = {**meta["annotations"], SOURCE: "api"}
    return pod


class ApiPods:
    """Watches the node's pods and tells their workers. ``add`` starts a worker, ``mirror_lost`` restores a mirror."""

    def __init__(
        self,
        client: Client,
        node_name: str,
        clock: Clock,
        workers: PodWorkers,
        statuses: StatusManager,
        *,
        add: Callable[[Object], None],
        mirror_lost: Callable[[Object], None],
    ) -> None:
        own = f"spec.nodeName={node_name}"
        self.informer = Informer(client, PODS, fields=own, transform=from_api, clock=clock)
        self._workers, self._statuses = workers, statuses
        self._add, self._mirror_lost = add, mirror_lost

    async def run(self) -> None:
        """Watch until cancelled."""
        self.informer.add_handler(self._changed)
        await self.informer.run()

    def object_of(self, pod: Object, *, static: bool) -> Object | None:
        """Return the API object that stands for a pod: itself, or the mirror of a static one."""
        meta = pod["metadata"]
        shown = self.informer.get(f"{meta['namespace']}/{meta['name']}")
        if static:
            return shown if shown is not None and is_mirror(shown) else None
        if shown is not None and shown["metadata"]["uid"] != meta["uid"]:
            return None
        return shown or pod

    def _changed(self, old: Object | None, new: Object | None) -> None:
        pod = new if new is not None else old
        assert pod is not None
        if is_mirror(pod):
            if new is None or new["metadata"].get("deletionTimestamp"):
                self._mirror_lost(pod)
            else:
                uid = new["metadata"]["annotations"][MIRROR]
                self._workers.wake(uid)
                self._statuses.seen(uid)
            return
        uid = pod["metadata"]["uid"]
        worker = self._workers.by_uid.get(uid)
        if new is None:
            if worker is not None:
                worker.remove()
        elif worker is not None:
            worker.update(new)
            self._statuses.seen(uid)
        else:
            self._add(new)
