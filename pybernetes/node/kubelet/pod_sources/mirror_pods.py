"""Shows static pods in the API: a mirror pod for each, created anew when somebody deletes it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client import AlreadyExists, Client, NotFound, StatusError
from pybernetes.client.refs import PODS
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.pod_kinds import HASH, MIRROR, is_mirror
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
_FIRST_SECONDS, _LONGEST_SECONDS = 0.2, 10.0


def mirror_pod(pod: Object, node: Object) -> Object:
    """Return the mirror pod of a static pod; the Node owns it."""
    meta = pod["metadata"]
    copy = {
        "metadata": {
            "name": meta["name"],
            "namespace": meta["namespace"],
            "labels": meta.get("labels") or {},
            "annotations": {**meta["annotations"], MIRROR: meta["annotations"][HASH]},
        },
        "spec": pod["spec"],
    }
    if node.get("metadata", {}).get("uid"):
        owner = {"apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"],
                 "uid": node["metadata"]["uid"], "controller": True}  # fmt: skip
        copy["metadata"]["ownerReferences"] = [owner]
    return copy


class MirrorPods:
    """The mirror pods of a node. ``wanted`` gives the static pod of a namespace and name, ``node`` the Node."""

    def __init__(
        self,
        client: Client,
        pods: Informer,
        clock: Clock,
        wanted: Callable[[str], Object | None],
        node: Callable[[], Object],
    ) -> None:
        self._client, self._pods, self._clock = client, pods, clock
        self._wanted, self._node = wanted, node

    async def sync(self, pod: Object) -> None:
        """Make the mirror under the name of a static pod match what is wanted, or remove it if nothing is."""
        meta = pod["metadata"]
        key = f"{meta['namespace']}/{meta['name']}"
        await self._pods.wait_synced()
        delay = _FIRST_SECONDS
        while True:
            definition, shown = self._wanted(key), self._pods.get(key)
            try:
                if shown is not None and is_mirror(shown):
                    if definition is not None and _is_mirror_of(shown, definition):
                        return
                    uid = shown["metadata"]["uid"]
                    await self._client.delete(PODS, meta["name"], meta["namespace"], uid=uid, grace=0)
                if definition is not None:
                    await self._client.create(PODS, mirror_pod(definition, self._node()), meta["namespace"])
                return
            except (NotFound, AlreadyExists):
                if definition is None:
                    return
            except (StatusError, OSError) as error:
                log.warning("the mirror of the static pod %s: %s", meta["name"], error)
            await self._clock.sleep(delay)
            delay = min(_LONGEST_SECONDS, delay * 2)


def _is_mirror_of(shown: Object, pod: Object) -> bool:
    meta = shown["metadata"]
    return meta["annotations"][MIRROR] == pod["metadata"]["uid"] and not meta.get("deletionTimestamp")
