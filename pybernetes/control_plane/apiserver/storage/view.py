"""What readers derive from a record, kept beside it."""

from __future__ import annotations

from weakref import ref

from pybernetes.control_plane.store.protocol import Record
from pybernetes.lib.event_loop.large import Large


class SharedObject(Large):
    """A decoded object that goes when the last holder lets it go, however long its record is kept."""

    __slots__ = ()


class View:
    """What was derived from one record."""

    __slots__ = ("converted", "fields", "labels", "message", "object")

    def __init__(self) -> None:
        self.labels: dict[str, str] | None = None
        self.fields: dict[str, dict[str, str]] = {}  # by version, since each has its own
        self.object: ref[SharedObject] | None = None
        self.converted: dict[str, bytes] = {}
        # The object in protobuf as an item of a list, and the version that it is of.
        self.message: tuple[str, bytes] | None = None


def view_of(record: Record) -> View:
    """Return the view of a record, made if there is none yet."""
    view: View | None = record.view
    if view is None:
        view = record.view = View()
    return view
