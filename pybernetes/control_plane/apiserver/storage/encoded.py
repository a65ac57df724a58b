"""How many objects are kept in protobuf beside their JSON: as many as were made last and fit."""

from __future__ import annotations

import threading
from collections import deque

from pybernetes.control_plane.apiserver.storage.view import View
from pybernetes.lib.memory.forgetting import on_forget

_MOST_BYTES = 64 << 20
# What one takes beside its bytes.
_ENTRY_BYTES = 250


class EncodedObjects:
    """The views that hold a message, the oldest first; when there is too much, those let go of theirs."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._views: deque[tuple[View, int]] = deque()
        self._lock = threading.Lock()  # large lists are made beside the loop
        self.bytes, self.most_bytes = 0, most_bytes
        on_forget(self.clear)

    def keep(self, view: View, size: int) -> None:
        """Note that a view holds a message."""
        with self._lock:
            self._views.append((view, size))
            self.bytes += size + _ENTRY_BYTES
            while self.bytes > self.most_bytes:
                self._drop()

    def clear(self) -> None:
        """Have every view let go of its message."""
        with self._lock:
            while self._views:
                self._drop()

    def _drop(self) -> None:
        view, size = self._views.popleft()
        view.message = None
        self.bytes -= size + _ENTRY_BYTES


_objects = EncodedObjects()
keep = _objects.keep


def within(room: int) -> None:
    """Keep no more than suits a process that has so much memory for all that clients ask for."""
    _objects.most_bytes = min(_MOST_BYTES, room // 16)
