"""Fills the graph from the store and keeps it in step.

What a pod refers to stays as it is once the pod is bound, but for ephemeral containers and claims that are made for
it. So a pod is decoded when it is bound and hardly ever again, however often its status changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authz.node import references
from pybernetes.control_plane.apiserver.authz.node.graph import CLAIMS, SECRETS, Graph, ObjectKey
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.store.prefix_follower import PrefixFollower
from pybernetes.control_plane.store.protocol import Damaged, Record, Store
from pybernetes.lib.event_loop import off_loop

log = logging.getLogger(__name__)
_BOUND = b'"nodeName":"'
# Parts of a pod that can bring references after it was bound, or take them away.
_IN_SPEC, _IN_STATUS = "ephemeralContainers", ("resourceClaimStatuses", "extendedResourceClaimStatus")
_GROWING = tuple(f'"{name}":'.encode() for name in (_IN_SPEC, *_IN_STATUS))


class Populator:
    """Follows pods, volumes and what else is bound to nodes."""

    def __init__(self, store: Store, kinds: Kinds, graph: Graph) -> None:
        self._graph = graph
        self._uids: dict[ObjectKey, bytes] = {}
        # Large pods that are being read.
        self._reading: dict[ObjectKey, Record] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._follows_all = False
        self._follows: list[PrefixFollower] = []
        for group, plural, take in (
            ("", "pods", self._pod),
            ("", "persistentvolumes", self._volume),
            ("storage.k8s.io", "volumeattachments", self._plain),
            ("resource.k8s.io", "resourceslices", self._plain),
            ("certificates.k8s.io", "podcertificaterequests", self._plain),
        ):
            kind = kinds.find(group, plural)
            # What was told by its UID could be something else by now that only names the same UID.
            follow = PrefixFollower(store, kind.prefix, _change(kind, take), lost=self._uids.clear)
            self._follows.append(follow)

    def start(self) -> None:
        """Read everything and follow it."""
        for follow in self._follows:
            follow.start()
        self._follows_all = True

    def _pod(self, kind: Kind, key: ObjectKey, record: Record | None) -> None:
        self._reading.pop(key, None)
        # ``find`` and not ``in``, with which Python raises and drops an error first.
        if record is None or record.value.find(_BOUND) < 0:
            self._drop(key)
            return
        uid, value = self._uids.get(key), record.value
        if uid is not None and value.find(uid) >= 0 and not _grows(value):
            return
        if len(value) <= off_loop.LARGE or not self._follows_all:
            self._bind(key, _needs(kind, record))
            return
        # Until it is read the node has what it had.
        self._reading[key] = record
        task = asyncio.get_running_loop().create_task(self._read(kind, key, record))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read(self, kind: Kind, key: ObjectKey, record: Record) -> None:
        """Read a large pod beside the event loop."""
        try:
            needs = await off_loop.beside(_needs, kind, record)
        except Damaged as error:
            log.error("%s: it counts as gone until it is replaced", error)
            needs = _Needs("", (), b"")
        if self._reading.get(key) is record:
            del self._reading[key]
            self._bind(key, needs)

    def _bind(self, key: ObjectKey, needs: _Needs) -> None:
        if not needs.node:
            self._drop(key)
            return
        namespace = key[1]
        keys = [(resource, namespace, name) for resource, name in needs.references]
        self._graph.bind(key, needs.node, keys)
        if needs.uid:
            self._uids[key] = needs.uid
        else:
            self._uids.pop(key, None)

    def _plain(self, kind: Kind, key: ObjectKey, record: Record | None) -> None:
        """Return what follows a kind whose spec names its node once and for all."""
        uid = self._uids.get(key)
        if record is not None and uid is not None and uid in record.value:
            return
        self._drop(key)
        if record is not None and _BOUND in record.value:
            obj = kind.shared(record)
            node = obj.get("spec", {}).get("nodeName", "")
            if node:
                self._graph.bind(key, node)
                self._uids[key] = _uid(obj)

    def _volume(self, kind: Kind, key: ObjectKey, record: Record | None) -> None:
        volume = kind.shared(record) if record is not None else {}
        claim = volume.get("spec", {}).get("claimRef")
        if claim is None:
            self._graph.release(key[2])
            return
        secrets = [(SECRETS, namespace, name) for namespace, name in references.of_volume(volume)]
        self._graph.claim(key[2], (CLAIMS, claim.get("namespace", ""), claim.get("name", "")), secrets)

    def _drop(self, key: ObjectKey) -> None:
        self._graph.unbind(key)
        self._uids.pop(key, None)


class _Needs(NamedTuple):
    """Where a pod is, and what it refers to. ``uid`` tells it from now on; empty if its references can change."""

    node: str
    references: tuple[tuple[str, str], ...]
    uid: bytes


def _needs(kind: Kind, record: Record) -> _Needs:
    pod = kind.shared(record)
    spec, status = pod.get("spec", {}), pod.get("status", {})
    # What can grow can shrink: the next change is looked at, too.
    changes = _IN_SPEC in spec or _IN_STATUS[0] in status or _IN_STATUS[1] in status
    return _Needs(spec.get("nodeName", ""), tuple(references.of_pod(pod)), b"" if changes else _uid(pod))


def _grows(value: bytes) -> bool:
    return value.find(_GROWING[0]) >= 0 or value.find(_GROWING[1]) >= 0 or value.find(_GROWING[2]) >= 0


def _uid(obj: Object) -> bytes:
    return f'"uid":"{obj["metadata"].get("uid", "")}"'.encode()


def _change(
    kind: Kind, take: Callable[[Kind, ObjectKey, Record | None], None]
) -> Callable[[str, Record | None], None]:
    resource, start = kind.resource.plural, len(kind.prefix)

    def change(key: str, record: Record | None) -> None:
        namespace, _, name = key[start:].rpartition("/")
        take(kind, (resource, namespace, name), record)

    return change
