"""pyb federation status: clusters and federated objects as tables."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.control_plane.federation.kinds import KUBEFED_CLUSTERS
from pybernetes.control_plane.federation.propagation import CONDITION
from pybernetes.tools.federation import host_objects
from pybernetes.tools.federation.session import Session, add_flags

SUMMARY = "Show the clusters of a federation, and how its objects do in them"
_CLUSTERS = ("CLUSTER", "READY", "VERSION", "REGION", "ZONES", "OBJECTS", "NOT WELL")
_KINDS = ("KIND", "OBJECTS", "PROPAGATED", "REASONS")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_flags(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print both tables."""

    async def work() -> None:
        async with Session(arguments) as session:
            client = await session.host()
            clusters = (await client.list(KUBEFED_CLUSTERS, session.namespace)).items
            kinds = await _federated(client, session.namespace)
            every = [obj for objects in kinds.values() for obj in objects]
            session.say(table(_CLUSTERS, (cluster_row(cluster, every) for cluster in clusters)))
            rows = [kind_row(kind, objects) for kind, objects in sorted(kinds.items()) if objects]
            if rows:
                session.say("\n" + table(_KINDS, rows))

    asyncio.run(work())
    return 0


async def _federated(client: Client, namespace: str) -> dict[str, list[Object]]:
    """Return the federated objects of every kind."""
    objects: dict[str, list[Object]] = {}
    for config in await host_objects.enabled_types(client, namespace):
        try:
            objects[config.federated.kind] = (await client.list(config.federated)).items
        except NotFound:
            objects[config.federated.kind] = []
    return objects


def cluster_row(cluster: Object, objects: Iterable[Object]) -> list[str]:
    """Return the row of a cluster: how it is, how many objects are in it, and how many of these are not well."""
    name, status = cluster["metadata"]["name"], cluster.get("status") or {}
    conditions = {row["type"]: row for row in status.get("conditions") or ()}
    ready = conditions.get("Ready", {}).get("status") == "True"
    first: Object = next(iter(conditions.values()), {})
    rows = [
        row for obj in objects for row in (obj.get("status") or {}).get("clusters") or () if row["name"] == name
    ]  # fmt: skip
    ill = Counter(row["status"] for row in rows if row.get("status"))
    return [
        name,
        "yes" if ready else f"no ({first.get('reason', 'not asked yet')})",
        status.get("kubernetesVersion", ""),
        status.get("region", ""),
        ",".join(status.get("zones") or ()),
        str(len(rows)),
        ", ".join(f"{count} {reason}" for reason, count in ill.most_common()),
    ]


def kind_row(kind: str, objects: Sequence[Object]) -> list[str]:
    """Return the row of a kind: how many objects there are, and how many are where they belong."""
    reasons: Counter[str] = Counter()
    for obj in objects:
        conditions = (obj.get("status") or {}).get("conditions") or ()
        own: Object = next((row for row in conditions if row.get("type") == CONDITION), {})
        reasons["" if own.get("status") == "True" else own.get("reason") or "not looked at yet"] += 1
    well = reasons.pop("", 0)
    return [
        kind,
        str(len(objects)),
        str(well),
        ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()),
    ]


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows below titles, in columns."""
    lines = [titles, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    return "\n".join(
        "   ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
