"""The informers of a process: one for everybody who asks for the same objects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import Kindlike, as_ref
from pybernetes.lib.clock import Clock
from pybernetes.runtime.informer import Informer, Transform


class Informers:
    """One informer for everybody who asks for the same objects."""

    def __init__(
        self,
        client: Client,
        *,
        clock: Clock | None = None,
        transform: Transform | None = None,
        informer: Callable[..., Informer] = Informer,
    ) -> None:
        self._informer = informer  # makes one
        self.client = client
        self._clock = clock or Clock()
        self._transform = transform
        self._informers: dict[tuple[Any, ...], Informer] = {}
        self._tasks: dict[Informer, asyncio.Task[None]] = {}
        self._started = False

    def get(
        self,
        kind: Kindlike,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
    ) -> Informer:
        """Return the informer of a kind, created if there is none yet and started if the others are."""
        key = (as_ref(kind), namespace, labels, fields, metadata_only)
        informer = self._informers.get(key)
        if informer is None and metadata_only:  # whole objects will do as well
            informer = self._informers.get((*key[:-1], False))
        if informer is None:
            informer = self._informers[key] = self._informer(
                self.client, kind, namespace, labels=labels, fields=fields, metadata_only=metadata_only,
                transform=self._transform, clock=self._clock,
            )  # fmt: skip
            if self._started:
                self._run(informer)
        return informer

    def __iter__(self) -> Iterator[Informer]:
        return iter(self._informers.values())

    def is_gone(self, about: Object) -> bool:
        """Return whether an object that is referred to was deleted; False if nobody here would know."""
        namespace, name = about.get("namespace"), about.get("name", "")
        for informer in self._informers.values():
            ref = informer.ref
            if (ref.kind, ref.api_version) == (
                about.get("kind"),
                about.get("apiVersion"),
            ) and informer.knows_all:
                return (f"{namespace}/{name}" if namespace else name) not in informer
        return False

    def start(self) -> None:
        """Start every informer, and every new one from now on."""
        self._started = True
        for informer in self._informers.values():
            self._run(informer)

    def _run(self, informer: Informer) -> None:
        if informer not in self._tasks:
            self._tasks[informer] = asyncio.create_task(informer.run(), name=f"informer {informer.ref}")

    async def drop(self, informer: Informer) -> None:
        """Stop one informer and forget it, for a kind that is no longer served."""
        self._informers = {key: other for key, other in self._informers.items() if other is not informer}
        task = self._tasks.pop(informer, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        informer.forget()

    def restart(self) -> None:
        """Let informers that cannot follow the server try again now, for a server that is known to be back."""
        for informer in list(self._tasks):
            if informer.error is not None:
                self._tasks.pop(informer).cancel()
                self._run(informer)

    async def wait_synced(self) -> None:
        """Wait until every informer has had all objects."""
        for informer in list(self._informers.values()):
            await informer.wait_synced()

    async def stop(self) -> None:
        """Stop every informer."""
        self._started = False
        tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
