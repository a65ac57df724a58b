"""When the newest objects of a kind were written, to the microsecond: what a pod's creation is told from.

An object's own timestamps have seconds. What is kept is bounded: so many objects, and of each its first writes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.tracing import Spans

KIND, API_VERSION = "WriteTimes", "pybernetes.dev/v1"
# When there are so many objects, the older half is forgotten; of each no more than its first writes are known.
MOST_OBJECTS = 1024
MOST_WRITES = 8
# A write: the subresource, the phase that was written, when it ended (since the epoch, and on the monotonic clock), and on
# that clock when its request came, admission began and the store was called. Nothing but this happens while it is written.
_Write = tuple[str, str, float, float, float, float, float]


class WriteTimes:
    """The times of one kind's newest objects, by uid. ``clock`` gives the seconds since the epoch."""

    def __init__(self, clock: Callable[[], float] = time.time, spans: Spans | None = None) -> None:
        self._clock, self.spans = clock, spans
        self._writes: dict[str, tuple[_Write, ...]] = {}

    def __len__(self) -> int:
        return len(self._writes)

    def created(self, obj: Object, request: Request, admission: float, write: float) -> None:
        """Note that an object was created; the moments are monotonic."""
        writes = self._writes
        began = request.started if request.set_aside is None else request.started - request.set_aside.queued
        noted = ("", "", self._clock(), time.monotonic(), began, admission, write)
        writes[obj["metadata"]["uid"]] = (noted,)
        if len(writes) >= MOST_OBJECTS:
            for uid in list(writes)[: MOST_OBJECTS // 2]:
                del writes[uid]
        if self.spans is not None:
            self._tell(self.spans, noted)

    def changed(self, obj: Object, request: Request, admission: float, write: float) -> None:
        """Note that an object was changed, if its creation is still known."""
        uid = obj["metadata"]["uid"]
        writes = self._writes.get(uid)
        if writes is None or len(writes) >= MOST_WRITES:
            return
        began = request.started if request.set_aside is None else request.started - request.set_aside.queued
        status = obj.get("status")
        phase = status.get("phase", "") if status else ""
        subresource = request.request_info.subresource
        noted = (subresource, phase, self._clock(), time.monotonic(), began, admission, write)
        self._writes[uid] = (*writes, noted)
        if self.spans is not None:
            self._tell(self.spans, noted)

    def deleted(self, obj: Object) -> None:
        """Forget an object."""
        self._writes.pop(obj["metadata"]["uid"], None)

    def _tell(self, spans: Spans, noted: _Write) -> None:
        """Make the span of admission; the store and the whole request have theirs."""
        _, _, end, ended, _, admission, write = noted
        spans.past("Admission", end - ended + admission, end - ended + write, {})

    def document(self, uid: str) -> dict[str, Any]:
        """Return the writes of an object as whoever asks gets them; none if it is not known any more."""
        return {"kind": KIND, "apiVersion": API_VERSION, "uid": uid, "writes": list(self._rows(uid))}

    def _rows(self, uid: str) -> Iterator[dict[str, Any]]:
        for subresource, phase, end, ended, received, admission, write in self._writes.get(uid, ()):
            moments = {"received": received, "admission": admission, "write": write, "written": ended}
            since = {name: round(end - ended + moment, 6) for name, moment in moments.items()}
            yield {"subresource": subresource, "phase": phase, **since}
