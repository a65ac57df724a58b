"""Keeps a search index, and the sums of nodes, up to date: one watch for each kind that the user may read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.runtime.informer import Informer
from pybernetes.tools.dashboard.kinds import Kind, kinds
from pybernetes.tools.dashboard.node_loads import NODE, POD, NodeLoads, thinned
from pybernetes.tools.dashboard.search_fields import WHOLE, fields
from pybernetes.tools.dashboard.search_index import Key, SearchIndex, text_of

log = logging.getLogger(__name__)
# What nobody looks for, and what is found as EndpointSlices.
_NOT_SEARCHED = frozenset(("leases.coordination.k8s.io", "endpoints"))
_PROBES_AT_ONCE = 8
# Objects that make kinds, and how long a server may take until it serves what one of them says.
_TELL_OF_KINDS = frozenset(
    ("customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io")
)
_SETTLE_SECONDS = 1.0
_NOT_ALLOWED = (401, 403)
_RETRY_SECONDS = 5.0


class _ReadersInformer(Informer):
    """An informer that tells when the user may not read the kind, or is nobody any more."""

    on_refusal: Callable[[], None] | None = None

    def _refused(self, error: StatusError) -> None:
        super()._refused(error)
        if error.code in _NOT_ALLOWED and self.on_refusal is not None:
            self.on_refusal()


class SearchFeed:
    """The index of what one user may see. ``unread`` names the kinds that he may not."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.index = SearchIndex()
        self.loads = NodeLoads()
        self.unread: list[str] = []
        self._client, self._namespace = client, namespace
        self._task: asyncio.Task[None] | None = None
        self._informers: dict[Kind, Informer | None] = {}  # None: the user may not read it
        self._running: dict[Kind, asyncio.Task[None]] = {}
        self._begun = False
        # Set when the cluster may have other kinds than before.
        self._other_kinds = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether everything that there was at the beginning has been read."""
        return self._begun and all(
            informer is None or informer.synced for informer in self._informers.values()
        )

    def start(self) -> None:
        """Begin, if that has not happened yet; otherwise look again for what the user may read by now."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
            return
        for kind in [kind for kind, informer in self._informers.items() if informer is None]:
            del self._informers[kind]
            self._other_kinds.set()

    async def stop(self) -> None:
        """End all watches."""
        tasks = [*self._running.values(), *([self._task] if self._task is not None else ())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._running.clear()
        self._task = None

    async def _run(self) -> None:
        """Follow every kind, and go after those that come and go."""
        while True:
            self._other_kinds.clear()
            try:
                await self._follow_kinds()
            except (StatusError, OSError) as error:
                log.warning("the kinds of the cluster cannot be asked for: %s; trying again", error)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._begun = True
            await self._other_kinds.wait()
            await asyncio.sleep(_SETTLE_SECONDS)

    async def _follow_kinds(self) -> None:
        now = [kind for kind in await kinds(self._client) if str(kind.ref) not in _NOT_SEARCHED]
        for kind in [kind for kind in self._informers if kind not in now]:
            self._end(kind)
        turns = asyncio.Semaphore(_PROBES_AT_ONCE)

        async def begin(kind: Kind) -> None:
            async with turns:
                scope = await self._scope(kind)
            self._begin(kind, scope)

        await asyncio.gather(*(begin(kind) for kind in now if kind not in self._informers))
        self._note_unread()

    def _begin(self, kind: Kind, scope: str | None) -> None:
        informer = self._informers[kind] = None if scope is None else self._informer(kind, scope)
        if informer is not None:
            self._running[kind] = asyncio.get_running_loop().create_task(informer.run())

    def _end(self, kind: Kind) -> None:
        """Forget a kind that the cluster has no more."""
        informer, task = self._informers.pop(kind), self._running.pop(kind, None)
        if informer is not None and task is not None:
            task.cancel()
            for obj in informer.values():
                self._change(str(kind.ref), obj, None)

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
        informer = _ReadersInformer(
            self._client, kind.ref, namespace, metadata_only=resource not in WHOLE, transform=_thin(resource)
        )
        informer.add_handler(partial(self._change, resource))
        informer.on_refusal = lambda: self._refused(kind, informer)
        return informer

    def _refused(self, kind: Kind, informer: Informer) -> None:
        """Forget a kind that the user may read no more: what he could see is not his to search."""
        self._end(kind)
        if informer.synced:
            self._other_kinds.set()  # perhaps he may read it in his own namespace still
        else:
            self._informers[kind] = None
        self._note_unread()

    def _note_unread(self) -> None:
        self.unread = sorted(str(kind.ref) for kind, informer in self._informers.items() if informer is None)

    def _change(self, resource: str, old: Object | None, new: Object | None) -> None:
        meta = (new or old or {})["metadata"]
        key = Key(resource, meta.get("namespace", ""), meta["name"])
        if new is None:
            self.index.remove(key)
        else:
            self.index.put(key, new["text"])
        if resource in (POD, NODE):
            self.loads.change(resource, old, new)
        if resource in _TELL_OF_KINDS:
            self._other_kinds.set()


def _thin(resource: str) -> Callable[[Object], Object]:
    """Return what makes of an object no more than is needed here."""

    def thin(obj: Object) -> Object:
        meta = obj["metadata"]
        kept = {name: meta[name] for name in ("name", "namespace", "resourceVersion", "uid") if name in meta}
        thin: Object = {"metadata": kept, "text": text_of(fields(resource, obj))}
        if (load := thinned(resource, obj)) is not None:
            thin["load"] = load
        return thin

    return thin
