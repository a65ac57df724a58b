"""Reads what a pod's creation is told by: the pod, its events, and what the API server noted. GET and watch only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import Forbidden, NotFound, StatusError
from pybernetes.client.refs import EVENTS, PODS, path_of
from pybernetes.runtime.informer import Informer
from pybernetes.tools.trace.timeline import Trace, trace

MOST_EVENTS = 500
_MOST_WRITES = 64
_PAUSE_SECONDS = 0.05  # between two looks at what changes all the time
_WRITE_FIELDS = ("received", "admission", "write", "written")


async def read(client: Client, namespace: str, name: str) -> Trace:
    """Return the creation of a pod as far as it has come; NotFound if there is no such pod."""
    pod = await client.get(PODS, name, namespace)
    writes, (events, notes) = await asyncio.gather(_writes(client, pod), _events(client, namespace, name))
    return trace(pod, events, writes, notes)


async def follow(client: Client, namespace: str, name: str) -> AsyncIterator[Trace]:
    """Yield the creation of a pod whenever more is known, until it runs or is over; wait for one that is not there."""
    selected = f"involvedObject.kind=Pod,involvedObject.name={name}"
    pods = Informer(client, PODS, namespace, fields=f"metadata.name={name}")
    events = Informer(client, EVENTS, namespace, fields=selected)
    _, notes = await _events(client, namespace, name)
    changed = asyncio.Event()
    followed = [pods] if notes else [pods, events]  # events that may not be read are not asked for again
    for informer in followed:
        informer.add_handler(lambda old, new: changed.set())
    tasks = [asyncio.create_task(informer.run(), name=f"follow {informer.ref}") for informer in followed]
    ended = False
    try:
        while not ended:
            await changed.wait()
            changed.clear()
            pod = next(iter(pods.values()), None)
            if pod is None:
                continue
            told = trace(pod, list(events.values())[:MOST_EVENTS], await _writes(client, pod), notes)
            ended = told.phase not in ("", "Pending") and _is_whole(told)
            yield told
            with suppress(TimeoutError):  # changes that come together are one
                async with asyncio.timeout(_PAUSE_SECONDS if not ended else 0):
                    await asyncio.Event().wait()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_whole(told: Trace) -> bool:
    """Return whether the events of a pod that runs have come, too: they may be written after its status."""
    names = {row.name for row in told.steps}
    return told.phase != "Running" or "start" in names


async def _events(client: Client, namespace: str, name: str) -> tuple[list[Object], list[str]]:
    selected = f"involvedObject.kind=Pod,involvedObject.name={name}"
    try:
        page = await client.list_page(EVENTS, namespace, fields=selected, limit=MOST_EVENTS)
    except Forbidden as error:
        return [], [f"Events may not be read, so that only conditions tell: {error}"]
    return page.items, []


async def _writes(client: Client, pod: Object) -> Sequence[Mapping[str, Any]]:
    """Return what the API server tells of a pod's writes; nothing if it is another one than ours, or the pod is gone."""
    meta = pod["metadata"]
    try:
        told = await client.call("GET", path_of(PODS, meta["namespace"], meta["name"]), "writeTimes=true")
    except (NotFound, StatusError):
        return ()
    if not isinstance(told, dict) or told.get("kind") != "WriteTimes" or told.get("uid") != meta["uid"]:
        return ()
    writes = told.get("writes")
    return [write for write in writes[:_MOST_WRITES] if _is_write(write)] if isinstance(writes, list) else ()


def _is_write(write: object) -> bool:
    return (
        isinstance(write, dict)
        and all(isinstance(write.get(key), (int, float)) for key in _WRITE_FIELDS)
        and all(isinstance(write.get(key), str) for key in ("subresource", "phase"))
    )
