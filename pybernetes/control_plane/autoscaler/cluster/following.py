"""Follows the cluster: informers that keep ``Cluster`` up to date and say when a pass is worth while."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from pybernetes.api.resource import Object
from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster, ClusterNode
from pybernetes.control_plane.autoscaler.cluster.pod_records import PodRecord
from pybernetes.control_plane.autoscaler.provisioning.provisioning_requests import PROVISIONING_REQUESTS
from pybernetes.lib.clock import Clock
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.following import following, late
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.transforms import kept, read_as

NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed"
_LOOKED_UP = (
    (refs.NAMESPACES, kept()),
    (refs.SERVICES, kept("spec.selector")),
    (refs.REPLICATION_CONTROLLERS, kept("spec.selector", "spec.replicas")),
    (refs.REPLICA_SETS, kept("spec.selector", "spec.replicas")),
    (refs.STATEFUL_SETS, kept("spec.selector")),
    (refs.DAEMON_SETS, kept("spec.template")),
    (refs.JOBS, kept()),
    (refs.POD_DISRUPTION_BUDGETS, kept("spec", "status")),
    (refs.PERSISTENT_VOLUME_CLAIMS, lambda obj: obj),
    (refs.PERSISTENT_VOLUMES, lambda obj: obj),
    (refs.STORAGE_CLASSES, lambda obj: obj),
    (refs.CSI_NODES, kept("spec")),
    (refs.CSI_DRIVERS, kept("spec")),
    (refs.CSI_STORAGE_CAPACITIES, kept("nodeTopology", "storageClassName", "capacity", "maximumVolumeSize")),
)


class Follower:
    """The informers of one autoscaler. ``wake`` is called when something cannot wait, ``change`` when anything changed."""

    def __init__(
        self,
        client: Client,
        cluster: Cluster,
        *,
        namespace: str,
        clock: Clock,
        wake: Callable[[], None],
        change: Callable[[], None],
        set_request: Callable[[str, Object | None], bool] | None = None,
    ) -> None:
        self._cluster, self._wake, self._change = cluster, wake, change
        self.priorities: Object | None = None
        nodes = Informer(client, refs.NODES, transform=read_as("node", cluster.read_node), clock=clock)
        nodes.add_handler(self._node)
        pods = Informer(
            client, refs.PODS, fields=NOT_ENDED, transform=read_as("record", cluster.read_pod), clock=clock
        )
        pods.add_handler(self._pod)
        maps = Informer(
            client, refs.CONFIG_MAPS, namespace=namespace,
            fields="metadata.name=cluster-autoscaler-priority-expander", clock=clock,
        )  # fmt: skip
        maps.add_handler(self._map)
        self.informers = [nodes, maps]
        for ref, transform in _LOOKED_UP:
            informer = Informer(client, ref, transform=transform, clock=clock)

            def store(old: Object | None, new: Object | None, kind: str = ref.plural) -> None:
                cluster.set_object(kind, key_of(new or old or {}), new)

            informer.add_handler(store)
            self.informers.append(informer)
        self.informers.append(pods)
        if set_request is not None:
            requests = Informer(client, PROVISIONING_REQUESTS, clock=clock)

            def follow(old: Object | None, new: Object | None) -> None:
                if set_request(key_of(new or old or {}), new):
                    wake()

            requests.add_handler(follow)
            self.informers.append(requests)

    def _node(self, old: Object | None, new: Object | None) -> None:
        before: ClusterNode | None = old["node"] if old is not None else None
        after: ClusterNode | None = new["node"] if new is not None else None
        self._cluster.set_node((new or old or {})["metadata"]["name"], after)
        if before is None or after is None or before.ready != after.ready:
            self._wake()
        elif before[:4] != after[:4]:
            self._change()

    def _pod(self, old: Object | None, new: Object | None) -> None:
        before: PodRecord | None = old["record"] if old is not None else None
        after: PodRecord | None = new["record"] if new is not None else None
        self._cluster.set_pod(key_of(new or old or {}), after)
        waits = self._cluster.waits
        if after is not None and waits(after) and (before is None or not waits(before)):
            self._wake()
        elif before is None or after is None or before.pod.node != after.pod.node:
            self._change()

    def _map(self, old: Object | None, new: Object | None) -> None:
        self.priorities = new

    def check(self) -> str | None:
        """Return what is not known yet, for the readiness page."""
        return late(self.informers)

    def following(self) -> AbstractAsyncContextManager[None]:
        """Follow the cluster; everything is known when it begins."""
        return following(self.informers)
