"""What became of a write."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.store.protocol import Record


class Written:
    """The outcome of a write: the stored record, or the object alone when nothing was stored (dry run)."""

    __slots__ = ("created", "obj", "record")

    def __init__(self, record: Record | None, obj: Object, created: bool = False) -> None:
        self.record, self.obj, self.created = record, obj, created
