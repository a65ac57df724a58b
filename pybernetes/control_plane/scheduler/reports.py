"""Events about pods, and the condition of pods that fit nowhere.

Writing these waits for bindings: a pod that gets its node early matters more than a report about it.
"""

from __future__ import annotations

import logging
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from pybernetes.api import steps
from pybernetes.api.resource import Object
from pybernetes.api.steps import Step
from pybernetes.client.client import STRATEGIC_PATCH, Client
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import NEW_EVENTS, PODS, Ref
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.runtime.background import BackgroundTasks
from pybernetes.runtime.correlation import Names
from pybernetes.runtime.events import NORMAL, WARNING, SeriesRecorder
from pybernetes.scheduling.pods import Pod

log = logging.getLogger(__name__)
NOTE_LIMIT = 1024
_WORKERS = 4
_QUEUED = 20_000  # reports beyond these are dropped


def reference(pod: Pod) -> Object:
    """Return the reference to a pod that an event has."""
    return {
        "kind": "Pod", "apiVersion": "v1", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid,
        "resourceVersion": pod.version,
    }  # fmt: skip


def shortened(text: str, limit: int = NOTE_LIMIT) -> str:
    """Return a text, cut so that it fits into an event."""
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


class Writer:
    """Does writes with a few workers, whenever ``may_write`` says that nothing is more urgent."""

    def __init__(self, may_write: Callable[[], Awaitable[None]]) -> None:
        self._may_write = may_write
        self._queue: deque[Callable[[], Awaitable[Any]]] = deque()
        self._workers = BackgroundTasks("scheduler reports")
        self._busy = 0  # workers that will look into the queue again
        self.dropped = 0

    def add(self, write: Callable[[], Awaitable[Any]]) -> None:
        """Queue a write; an error is logged and forgotten."""
        if len(self._queue) >= _QUEUED:
            self.dropped += 1
            return
        self._queue.append(write)
        if self._busy < _WORKERS:
            self._busy += 1
            self._workers.start(self._run())

    async def _run(self) -> None:
        try:
            while self._queue:
                await self._may_write()
                if not self._queue:
                    return
                write = self._queue.popleft()
                try:
                    await write()
                except (StatusError, OSError, TimeoutError) as error:
                    log.debug("a report was not written: %s", error)
        finally:  # before anybody can add another write, which would wait for a worker that has ended
            self._busy -= 1

    async def close(self, seconds: float = 1.0) -> None:
        """Write what is possible within a moment, and stop."""
        await self._workers.close(seconds)


class _Sender:
    """Gives the events of a recorder to a writer."""

    def __init__(self, client: Client, writer: Writer) -> None:
        self._client, self._writer = client, writer

    def send(self, ref: Ref, event: Object, patch: Object | None) -> None:
        self._writer.add(lambda: self._write(ref, event, patch))

    async def _write(self, ref: Ref, event: Object, patch: Object | None) -> None:
        meta = event["metadata"]
        if patch is not None:
            try:
                await self._client.patch(ref, meta["name"], patch, meta["namespace"], type=STRATEGIC_PATCH)
                return
            except NotFound:  # it has expired
                pass
        try:
            await self._client.create(ref, event)
        except AlreadyExists:
            pass


class Reports:
    """Events and conditions in the name of a scheduler."""

    def __init__(self, client: Client, writer: Writer, clock: Clock) -> None:
        self._client, self._writer, self._clock = client, writer, clock
        self._host = socket.gethostname()
        self._names = Names()
        self._recorders: dict[str, SeriesRecorder] = {}

    def _recorder(self, scheduler: str) -> SeriesRecorder:
        recorder = self._recorders.get(scheduler)
        if recorder is None:
            recorder = self._recorders[scheduler] = SeriesRecorder(
                self._client,
                scheduler,
                instance=f"{scheduler}-{self._host}",
                clock=self._clock,
                sender=_Sender(self._client, self._writer),
            )
        return recorder

    def scheduled(self, pod: Pod, node: str, steps_before: Callable[[float], list[Step]]) -> None:
        """Report that a pod has its node, and how that came: once, so that no series has to be remembered."""
        now, scheduler = self._clock.now(), pod.shape.scheduler
        note = f"Successfully assigned {pod.key} to {node}"
        about = reference(pod)

        async def write() -> None:
            annotations = {steps.ANNOTATION: steps.to_text(steps_before(now))}
            await self._client.create(
                NEW_EVENTS,
                {
                    "metadata": {
                        "name": self._names.make(pod.name, now),
                        "namespace": pod.namespace,
                        "annotations": annotations,
                    },
                    "eventTime": rfc3339.micro(now),
                    "reportingController": scheduler,
                    "reportingInstance": f"{scheduler}-{self._host}",
                    "action": "Binding",
                    "reason": "Scheduled",
                    "regarding": about,
                    "note": note,
                    "type": NORMAL,
                },
            )

        self._writer.add(write)

    def failed(self, pod: Pod, message: str) -> None:
        """Report that a pod got no node."""
        self._event(pod, WARNING, "FailedScheduling", "Scheduling", message)

    def preempted(self, victim: Pod, preemptor: Pod, node: str) -> None:
        """Report that a pod was evicted to make room."""
        note = f"Preempted by pod {preemptor.uid} on node {node}"
        recorder = self._recorder(preemptor.shape.scheduler)
        recorder.event(
            _object(victim), NORMAL, "Preempted", "Preempting", shortened(note), related=_object(preemptor)
        )

    def _event(self, pod: Pod, type_: str, reason: str, action: str, note: str) -> None:
        self._recorder(pod.shape.scheduler).event(_object(pod), type_, reason, action, shortened(note))

    def condition(self, pod: Pod, reason: str, message: str, nominated: str | None) -> None:
        """Write into a pod why it has no node, and which it is nominated for (None leaves that as it is)."""
        status = condition_patch(pod, reason, message, nominated, rfc3339.seconds(self._clock.now()))
        if status is None:
            return
        self._patch(pod, status)

    def nominated(self, pod: Pod, node: str) -> None:
        """Write into a pod which node it is nominated for; an empty name takes the nomination back."""
        self._patch(pod, {"nominatedNodeName": node or None})

    def _patch(self, pod: Pod, status: Object) -> None:
        patch = {"metadata": {"uid": pod.uid}, "status": status}
        self._writer.add(lambda: self._client.patch_status(PODS, pod.name, patch, pod.namespace))


def _object(pod: Pod) -> Object:
    meta = {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid, "resourceVersion": pod.version}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta}


def condition_patch(pod: Pod, reason: str, message: str, nominated: str | None, now: str) -> Object | None:
    """Return the patch of a pod's status, or None if nothing changes."""
    patch: Object = {}
    status, old_reason, old_message, generation = pod.condition
    if (status, old_reason, old_message) != ("False", reason, message) or generation != pod.generation:
        condition: Object = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        if status != "False":
            condition |= {"lastProbeTime": None, "lastTransitionTime": now}
        if pod.generation:
            condition["observedGeneration"] = pod.generation
        patch["conditions"] = [condition]
    if nominated is not None and nominated != pod.nominated:
        patch["nominatedNodeName"] = nominated or None
    return patch or None
