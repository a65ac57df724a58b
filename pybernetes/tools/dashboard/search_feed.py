"""Keeps a search index up to date: one watch for each kind that the user may read, metadata only where that will do."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.runtime.informer import Informer
from pybernetes.tools.dashboard.kinds import Kind, kinds
from pybernetes.tools.dashboard.search_fields import WHOLE, fields
from pybernetes.tools.dashboard.search_index import Key, SearchIndex, text_of

log = logging.getLogger(__name__)
# What nobody looks for, and what is found as EndpointSlices.
_NOT_SEARCHED = frozenset(("leases.coordination.k8s.io", "endpoints"))
_PROBES_AT_ONCE = 8


class SearchFeed:
    """The index of what one user may see. ``unread`` names the kinds that he may not."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.index = SearchIndex()
        self.unread: list[str] = []
        self.ready = False
        self._client, self._namespace = client, namespace
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, if that has not happened yet."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End all watches."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                informers = await self._informers()
                for informer in informers:
                    group.create_task(informer.run())
                for informer in informers:
                    await informer.wait_synced()
                self.ready = True
        except (StatusError, OSError) as error:
            log.warning("nothing can be searched: %s", error)

    async def _informers(self) -> list[Informer]:
        turns = asyncio.Semaphore(_PROBES_AT_ONCE)

        async def informer(kind: Kind) -> Informer | None:
            async with turns:
                scope = await self._scope(kind)
            return None if scope is None else self._informer(kind, scope)

        wanted = [kind for kind in await kinds(self._client) if str(kind.ref) not in _NOT_SEARCHED]
        made = await asyncio.gather(*(informer(kind) for kind in wanted))
        self.unread = [str(kind.ref) for kind, one in zip(wanted, made, strict=True) if one is None]
        return [one for one in made if one is not None]

    async def _scope(self, kind: Kind) -> str | None:
        """Return the namespace in which a user may read a kind, empty for all of them, None for nowhere."""
        for namespace in ("", self._namespace) if kind.ref.namespaced else ("",):
            try:
                await self._client.list_page(kind.ref, namespace, limit=1, metadata_only=True)
            except StatusError:
                continue
            return namespace
        return None

    def _informer(self, kind: Kind, namespace: str) -> Informer:
        resource = str(kind.ref)
        informer = Informer(
            self._client, kind.ref, namespace, metadata_only=resource not in WHOLE, transform=_thin(resource)
        )
        informer.add_handler(self._follow(resource))
        return informer

    def _follow(self, resource: str) -> Callable[[Object | None, Object | None], None]:
        def change(old: Object | None, new: Object | None) -> None:
            meta = (new or old or {})["metadata"]
            key = Key(resource, meta.get("namespace", ""), meta["name"])
            if new is None:
                self.index.remove(key)
            else:
                self.index.put(key, new["text"])

        return change


def _thin(resource: str) -> Callable[[Object], Object]:
    """Return what makes of an object no more than is needed here."""

    def thin(obj: Object) -> Object:
        meta = obj["metadata"]
        kept = {name: meta[name] for name in ("name", "namespace", "resourceVersion", "uid") if name in meta}
        return {"metadata": kept, "text": text_of(fields(resource, obj))}

    return thin
