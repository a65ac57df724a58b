"""When the newest objects of a kind were written, to the microsecond: what a pod's creation is told from.

An object's own timestamps have seconds. What is kept is bounded: so many objects, and of each its first writes.
"""

from __future__ import annotations

import struct
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.tracing import Spans

KIND, API_VERSION = "WriteTimes", "pybernetes.dev/v1"
MOST_OBJECTS = 1024
MOST_WRITES = 12
# When a write ended, and how many seconds before that its request came, admission began and the store was called.
_TIMES = struct.Struct("dfff")
_Write = tuple[str, str, bytes]  # subresource, the phase that was written, times


class WriteTimes:
    """The times of one kind's newest objects, by uid. ``clock`` gives the seconds since the epoch."""

    def __init__(self, clock: Callable[[], float] = time.time, spans: Spans | None = None) -> None:
        self._clock, self.spans = clock, spans
        self._writes: OrderedDict[str, list[_Write]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._writes)

    def created(self, obj: Object, request: Request, admission: float, write: float) -> None:
        """Note that an object was created; the moments are monotonic."""
        self._writes[obj["metadata"]["uid"]] = [self._times("", obj, request, admission, write)]
        if len(self._writes) > MOST_OBJECTS:
            self._writes.popitem(last=False)

    def changed(self, obj: Object, request: Request, admission: float, write: float) -> None:
        """Note that an object was changed, if its creation is still known."""
        writes = self._writes.get(obj["metadata"]["uid"])
        if writes is not None and len(writes) < MOST_WRITES:
            writes.append(self._times(request.request_info.subresource, obj, request, admission, write))

    def deleted(self, obj: Object) -> None:
        """Forget an object."""
        self._writes.pop(obj["metadata"]["uid"], None)

    def _times(self, what: str, obj: Object, request: Request, admission: float, write: float) -> _Write:
        now, aside = time.monotonic(), request.set_aside
        began = request.started if aside is None else request.started - aside.queued
        end = self._clock()
        if self.spans is not None:
            self._tell(end - now, admission, write)
        status = obj.get("status")
        phase = status.get("phase", "") if status else ""
        return what, phase, _TIMES.pack(end, now - began, now - admission, now - write)

    def _tell(self, offset: float, admission: float, write: float) -> None:
        """Make the span of admission; the store and the whole request have theirs."""
        assert self.spans is not None
        self.spans.past("Admission", offset + admission, offset + write, {})

    def document(self, uid: str) -> dict[str, Any]:
        """Return the writes of an object as whoever asks gets them; none if it is not known any more."""
        return {"kind": KIND, "apiVersion": API_VERSION, "uid": uid, "writes": list(self._rows(uid))}

    def _rows(self, uid: str) -> Iterator[dict[str, Any]]:
        for subresource, phase, packed in self._writes.get(uid, ()):
            end, request, admission, write = _TIMES.unpack(packed)
            yield {
                "subresource": subresource,
                "phase": phase,
                "received": round(end - request, 6),
                "admission": round(end - admission, 6),
                "write": round(end - write, 6),
                "written": round(end, 6),
            }
