"""Reads what a pod's creation is told by: the pod, its events, and what the API server noted. GET and watch only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pybernetes.api import steps
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import Expired, Forbidden, NotFound, StatusError
from pybernetes.client.refs import EVENTS, PODS, path_of
from pybernetes.runtime.informer import Informer
from pybernetes.tools.trace.timeline import Trace, trace

_PAGE, _MOST_PAGES = 500, 20  # of events; those of an ordinary pod are a handful
# The events that tell something about a pod's creation without steps.
_TELLING = frozenset(("Scheduled", "Pulling", "Pulled", "Created", "Started"))
_MOST_WRITES = 64
_PAUSE_SECONDS = 0.05  # between two looks at what changes all the time
_LATE_SECONDS = 3.0  # for the events of a pod that runs; on other clusters nobody tells steps
_WRITE_FIELDS = ("received", "admission", "write", "written")


async def read(client: Client, namespace: str, name: str) -> Trace:
    """Return the creation of a pod as far as it has come; NotFound if there is no such pod."""
    pod = await client.get(PODS, name, namespace)
    writes, (events, notes) = await asyncio.gather(_writes(client, pod), _events(client, namespace, name))
    return trace(pod, events, writes, notes)


async def follow(client: Client, namespace: str, name: str) -> AsyncIterator[Trace]:
    """Yield the creation of a pod whenever more is known, until it runs or is over; wait for one that is not there."""
    pods = Informer(client, PODS, namespace, fields=f"metadata.name={name}")
    events = Informer(client, EVENTS, namespace, fields=_selected(name), transform=slim)
    _, notes = await _events(client, namespace, name)
    changed = asyncio.Event()
    may_read = not any("may not be read" in note for note in notes)
    followed = [pods, events] if may_read else [pods]
    for informer in followed:
        informer.add_handler(lambda old, new: changed.set())
    tasks = [asyncio.create_task(informer.run(), name=f"follow {informer.ref}") for informer in followed]
    late: float | None = None  # when a pod that runs is not waited for any longer
    try:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(late):
                    await changed.wait()
            changed.clear()
            pod = next(iter(pods.values()), None)
            now = asyncio.get_running_loop().time()
            if pod is None:  # not yet, or not any more
                if late is not None:
                    return
                continue
            told = trace(pod, events.values(), await _writes(client, pod), notes)
            yield told
            if told.phase not in ("", "Pending"):
                late = now + _LATE_SECONDS if late is None else late
                if _is_whole(told, pod) or now >= late:
                    return
            await asyncio.sleep(_PAUSE_SECONDS)  # changes that come together are one
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_whole(told: Trace, pod: Object) -> bool:
    """Return whether the events of a pod that runs have come, too: they may be written after its status."""
    told_starts = {row.detail for row in told.steps if row.name == "start" and row.source == "mark"}
    return told.phase != "Running" or all(item["name"] in told_starts for item in pod["spec"]["containers"])


def _selected(name: str) -> str:
    return f"involvedObject.kind=Pod,involvedObject.name={name}"


def slim(event: Object) -> Object:
    """Return what is needed of an event, and no more: there may be any number, and each may be large."""
    kept = {
        key: event["metadata"].get(key)
        for key in ("namespace", "name", "resourceVersion", "creationTimestamp")
    }
    annotation = (event["metadata"].get("annotations") or {}).get(steps.ANNOTATION)
    if annotation is not None and len(annotation) <= steps.MOST_BYTES:
        kept["annotations"] = {steps.ANNOTATION: annotation}
    elif event.get("reason") not in _TELLING:
        return {"metadata": kept}
    about = {key: event["involvedObject"].get(key) for key in ("uid", "fieldPath")}
    times = {key: event.get(key) for key in ("eventTime", "firstTimestamp")}
    return {"metadata": kept, "involvedObject": about, "reason": event.get("reason"), **times}


async def _events(client: Client, namespace: str, name: str) -> tuple[list[Object], list[str]]:
    events: list[Object] = []
    token = ""
    try:
        for _ in range(_MOST_PAGES):
            page = await client.list_page(
                EVENTS, namespace, fields=_selected(name), limit=_PAGE, continue_token=token
            )
            events += map(slim, page.items)
            token = page.continue_token
            if not token:
                break
    except Forbidden as error:
        return [], [f"Events may not be read, so that only conditions tell: {error}"]
    except Expired:
        pass  # those that came before it have to do
    return events, ["There are too many events to read them all."] if token else []


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
