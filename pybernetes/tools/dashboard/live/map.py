"""map: how the objects of a namespace belong together, and how they are; again whenever one of them changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib.event_loop import off_loop
from pybernetes.runtime.informer import Informer
from pybernetes.tools.dashboard.kinds import kinds
from pybernetes.tools.dashboard.live._channel import Channel
from pybernetes.tools.dashboard.live._informers import follow, may_list
from pybernetes.tools.dashboard.relations import COLUMNS, SLICES, graph

_KEPT = ("name", "namespace", "uid", "resourceVersion", "ownerReferences", "labels")


async def run(channel: Channel) -> None:
    """Watch what the map shows, and send it whenever something changes, but not all the time."""
    namespace, labels = channel.text("namespace"), channel.text("labels")
    if namespace:
        channel.name("namespace")
    informers, unread = await _informers(channel, namespace, labels)

    async def send() -> None:
        objects = {resource: informer.values() for resource, informer in informers.items()}
        # Of thousands of objects it takes a while.
        await channel.send({"map": await off_loop.beside(graph, objects), "unread": unread})

    await follow(list(informers.values()), send)


async def _informers(channel: Channel, namespace: str, labels: str) -> tuple[dict[str, Informer], list[str]]:
    """Return an informer for each kind that the cluster has and the user may list, and the names of the others."""
    client = channel.user.client
    informers: dict[str, Informer] = {}
    unread = []
    for kind in await kinds(client):
        resource = str(kind.ref)
        if resource not in COLUMNS and resource != SLICES:
            continue
        where = namespace if kind.ref.namespaced else ""
        if not await may_list(client, kind.ref, where):
            unread.append(resource)
            continue
        # Only pods are chosen by labels: what stands around them is there for them.
        chosen = labels if resource == "pods" else ""
        informers[resource] = Informer(client, kind.ref, where, labels=chosen, transform=_thin(resource))
    return informers, unread


def _thin(resource: str) -> Callable[[Object], Object]:
    """Return what keeps of an object no more than the map needs."""

    def thin(obj: Object) -> Object:
        meta = {name: obj["metadata"][name] for name in _KEPT if name in obj["metadata"]}
        kept: dict[str, Any] = {"metadata": meta}
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        if resource == "pods":
            kept["spec"] = {name: spec[name] for name in ("nodeName", "volumes") if name in spec}
        elif resource != "nodes":
            kept["spec"] = {name: value for name, value in spec.items() if name != "template"}
        kept["status"] = {
            name: value for name, value in status.items() if name not in ("images", "allocatable", "capacity")
        }
        if resource == SLICES:
            kept["endpoints"] = obj.get("endpoints")
        return kept

    return thin


RUN = run
