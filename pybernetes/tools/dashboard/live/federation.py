"""federation: its clusters and its objects with their state in each cluster; again whenever one of them changes."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.runtime.informer import Informer
from pybernetes.tools.dashboard.federated import CLUSTERS, TYPES_GROUP, picture
from pybernetes.tools.dashboard.kinds import kinds
from pybernetes.tools.dashboard.live._channel import Channel
from pybernetes.tools.dashboard.live._informers import follow, may_list


async def run(channel: Channel) -> None:
    """Watch the clusters and every federated kind, and send how they are."""
    client = channel.user.client
    informers: dict[tuple[str, str], Informer] = {}
    unread = []
    for kind in await kinds(client):
        resource = str(kind.ref)
        if resource != CLUSTERS and kind.ref.group != TYPES_GROUP:
            continue
        if await may_list(client, kind.ref, ""):
            informers[resource, kind.ref.kind] = Informer(client, kind.ref, "", transform=_thin)
        else:
            unread.append(resource)

    async def send() -> None:
        objects = {key: informer.values() for key, informer in informers.items()}
        clusters = next((objects.pop(key) for key in list(objects) if key[0] == CLUSTERS), [])
        await channel.send({"federation": picture(clusters, objects), "unread": unread})

    await follow(list(informers.values()), send)


def _thin(obj: Object) -> Object:
    """Return no more of an object than the page shows: templates and what members report can be large."""
    meta = {
        name: value for name, value in obj["metadata"].items() if name not in ("managedFields", "annotations")
    }
    status = dict(obj.get("status") or {})
    if isinstance(rows := status.get("clusters"), list):
        status["clusters"] = [
            {name: row.get(name) for name in ("name", "status")} for row in rows if isinstance(row, dict)
        ]
    return {
        "metadata": meta,
        "spec": {"apiEndpoint": (obj.get("spec") or {}).get("apiEndpoint")},
        "status": status,
    }


RUN = run
