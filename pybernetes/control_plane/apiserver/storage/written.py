"""What became of a write."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.store.protocol import Record


class Written:
    """The outcome of a write: the stored record, or the object alone when nothing was stored (dry run).

    ``size`` is of how many bytes the object was made.
    """

    __slots__ = ("created", "obj", "record", "size")

    def __init__(self, record: Record | None, obj: Object, size: int, created: bool = False) -> None:
        self.record, self.obj, self.size, self.created = record, obj, size, created
