"""Follows the definitions in the store: serves them at once, gives them their names, and ends them.

Everything that happens to a definition calls ``_change``, in which kinds come and go. What has to be written
back (names, conditions, the end of a deletion) is done by a task that runs only while there is work.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pybernetes.api.customresource import names
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.custom_resources import definition_check
from pybernetes.control_plane.apiserver.custom_resources.cleanup import delete_all
from pybernetes.control_plane.apiserver.custom_resources.served_definition import (
    ServedDefinition,
    is_ready,
    source,
)
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.own_status import modify_status
from pybernetes.control_plane.store.prefix_follower import PrefixFollower
from pybernetes.control_plane.store.protocol import Event, Record, StoreError, Watch

log = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0


class CustomResources:
    """The definitions of a server and the kinds that are served of them."""

    def __init__(self, context: ServerContext, discovery: Discovery, openapi: OpenApi) -> None:
        self._context, self._discovery, self._openapi = context, discovery, openapi
        kind = context.kinds.get("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        assert kind is not None
        self._kind: Kind = kind
        context.write_checks[kind.resource.group, kind.resource.plural] = definition_check.WRITE_CHECK
        self._definitions: dict[str, Object] = {}
        self._served: dict[str, ServedDefinition] = {}
        self._pending: dict[str, None] = {}  # an ordered set
        self._task: asyncio.Task[None] | None = None
        self._endings: dict[str, Watch] = {}

    def start(self) -> None:
        """Serve what is defined, from now on."""
        PrefixFollower(self._context.store, self._kind.prefix, self._change).start()

    async def close(self) -> None:
        """Stop writing."""
        for watch in self._endings.values():
            watch.close()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _change(self, key: str, record: Record | None) -> None:
        name = key.rpartition("/")[2]
        definition = self._kind.object(record) if record is not None else None
        before = self._definitions.pop(name, None)
        if definition is None or record is None:
            self._hide(name)
            self._forget_ending(name)
        else:
            self._definitions[name] = definition
            self._serve(name, definition, record.revision)
            self._ask(name)
        # A name that was given back may be what another one waits for.
        if before is not None and (definition is None or _names(before) != _names(definition)):
            self._ask_others(name, before["spec"]["group"])

    def _serve(self, name: str, definition: Object, revision: int) -> None:
        if not is_ready(definition):
            self._hide(name)
            return
        held = self._served.get(name)
        if held is None or held.source != source(definition):
            new = ServedDefinition(self._context, definition, revision)
            self._hide(name)
            new.show(self._context, self._discovery, self._openapi)
            held = self._served[name] = new
        if definition["metadata"].get("deletionTimestamp"):
            held.end(self._context, self._discovery)

    def _hide(self, name: str) -> None:
        held = self._served.pop(name, None)
        if held is not None:
            held.hide(self._context, self._discovery, self._openapi)

    # -- what is written back ----------------------------------------------------------------------------

    def _ask(self, name: str) -> None:
        self._pending[name] = None
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    def _ask_others(self, name: str, group: str) -> None:
        for other, definition in self._definitions.items():
            if other != name and definition["spec"]["group"] == group:
                if not names.is_true(definition, "NamesAccepted"):
                    self._ask(other)

    async def _work(self) -> None:
        while self._pending:
            name = next(iter(self._pending))
            del self._pending[name]
            try:
                await self._settle(name)
            except StoreError as error:
                log.warning("cannot write the status of CustomResourceDefinition %s: %s", name, error)
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._ask, name)
            except Exception:
                log.exception("cannot settle CustomResourceDefinition %s", name)

    async def _settle(self, name: str) -> None:
        definition = self._definitions.get(name)
        if definition is None:
            return
        now = self._context.timestamp()
        meta = definition["metadata"]
        if meta.get("deletionTimestamp"):
            if names.FINALIZER in meta.get("finalizers", ()):
                await self._end(name, now)
            return
        group = definition["spec"]["group"]
        others = [
            other
            for key, other in self._definitions.items()
            if key != name and other["spec"]["group"] == group
        ]
        await self._write(name, lambda definition: names.settle(definition, others, now))

    async def _end(self, name: str, now: str) -> None:
        served = self._served.get(name)
        if served is None:
            status, reason, message = "False", "NeverEstablished", "resource was never established"
        else:
            left = await delete_all(self._context, served.storage)
            if left:
                self._wait_for_end(name, served)
                reason, message = "InstanceDeletionInProgress", "CustomResource deletion is in progress"
                await self._write(
                    name, lambda definition: names.terminating(definition, reason, message, now)
                )
                return
            status, reason, message = "False", "InstanceDeletionCompleted", "removed all instances"

        def ended(definition: Object) -> Object:
            new = names.terminating(definition, reason, message, now, status)
            finalizers = [item for item in new["metadata"].get("finalizers", ()) if item != names.FINALIZER]
            new["metadata"] = {**new["metadata"], "finalizers": finalizers}
            if not finalizers:
                del new["metadata"]["finalizers"]
            return new

        await self._write(name, ended)

    def _wait_for_end(self, name: str, served: ServedDefinition) -> None:
        """Go on when the last object is gone."""
        if name in self._endings:
            return
        store, prefix = self._context.store, served.storage.prefix

        def gone(events: list[Event]) -> None:
            if not store.count(prefix):
                self._forget_ending(name)
                self._ask(name)

        def closed(error: StoreError | None) -> None:
            self._endings.pop(name, None)
            if error is not None:
                self._ask(name)

        self._endings[name] = store.watch(prefix, store.revision, gone, closed=closed)

    def _forget_ending(self, name: str) -> None:
        watch = self._endings.pop(name, None)
        if watch is not None:
            watch.close()

    async def _write(self, name: str, change: Callable[[Object], Object]) -> None:
        await modify_status(self._context, self._kind, self._kind.key("", name), change)


def _names(definition: Object) -> Any:
    return definition.get("status", {}).get("acceptedNames")
