"""Reads a cluster, page by page; the only part of what-if that talks to a server, and it only sends GET."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import TextIO

from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.client.errors import Expired, NotFound
from pybernetes.client.refs import Ref
from pybernetes.scheduling.config import Configuration
from pybernetes.tools.what_if.cluster import Cluster

PAGE = 1000
NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed"
# What decisions depend on besides nodes and pods.
OTHERS: tuple[Ref, ...] = (
    refs.NAMESPACES, refs.SERVICES, refs.REPLICATION_CONTROLLERS, refs.REPLICA_SETS, refs.STATEFUL_SETS,
    refs.DEPLOYMENTS, refs.DAEMON_SETS, refs.JOBS, refs.POD_DISRUPTION_BUDGETS, refs.PRIORITY_CLASSES,
    refs.LIMIT_RANGES, refs.RUNTIME_CLASSES, refs.PERSISTENT_VOLUME_CLAIMS, refs.PERSISTENT_VOLUMES,
    refs.STORAGE_CLASSES, refs.CSI_NODES, refs.CSI_DRIVERS, refs.CSI_STORAGE_CAPACITIES,
)  # fmt: skip


class Progress:
    """Tells on a terminal how far the reading is; says nothing elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown = self._stream.isatty()
        self._counts: dict[str, int] = {}

    def count(self, plural: str, objects: int) -> None:
        """Count objects that have come."""
        self._counts[plural] = self._counts.get(plural, 0) + objects
        if self._shown:
            nodes, pods = self._counts.get("nodes", 0), self._counts.get("pods", 0)
            others = sum(self._counts.values()) - nodes - pods
            self._stream.write(f"\r\x1b[Kreading: {nodes} nodes, {pods} pods, {others} others")
            self._stream.flush()

    def end(self) -> None:
        """Write an empty line."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


async def read(
    client: Client, configuration: Configuration | None = None, progress: Progress | None = None
) -> Cluster:
    """Read everything that the scheduler would look at. Objects are taken over as their pages come."""
    progress = progress or Progress()
    cluster = Cluster(configuration)

    async def one(ref: Ref, fields: str = "") -> None:
        await _pages(client, ref, fields, lambda items: _take(cluster, progress, ref.plural, items))

    try:
        async with asyncio.TaskGroup() as group:
            for ref in (refs.NODES, *OTHERS):
                group.create_task(one(ref))
        await one(refs.PODS, NOT_ENDED)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    finally:
        progress.end()
    return cluster


def _take(cluster: Cluster, progress: Progress, plural: str, items: list[dict[str, object]]) -> None:
    cluster.add(plural, items)
    progress.count(plural, len(items))


async def _pages(
    client: Client, ref: Ref, fields: str, take: Callable[[list[dict[str, object]]], None]
) -> None:
    token = ""
    while True:
        try:
            page = await client.list_page(ref, fields=fields, limit=PAGE, continue_token=token)
        except NotFound:
            return  # a server without this kind has no objects of it
        except Expired:
            raise RuntimeError(f"the list of {ref} changed too much while it was read; ask again") from None
        take(page.items)
        token = page.continue_token
        if not token:
            return
