"""Messages beside the JSON of objects: within bounds, and of the version that was asked for."""

from __future__ import annotations

from pybernetes.api import protobuf
from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.storage.encoded import EncodedObjects
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.view import View
from pybernetes.control_plane.store.protocol import Record

KINDS = {resource.api_version: Kind(resource) for resource in builtin() if resource.kind == "Event"}


def test_the_oldest_go_first() -> None:
    objects = EncodedObjects(most_bytes=3000)
    views = [View() for _ in range(10)]
    for view in views:
        view.message = ("v1", b"x" * 750)
        objects.keep(view, 750)
    assert [view.message is not None for view in views] == [False] * 7 + [True] * 3
    assert objects.bytes == 3000
    objects.clear()
    assert objects.bytes == 0 and all(view.message is None for view in views)


def test_a_message_is_made_once_for_a_version() -> None:
    event = b'{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n"},"involvedObject":{}}'
    record = Record("/registry/events/n/e", event, 5)
    core, new = KINDS["v1"], KINDS["events.k8s.io/v1"]
    assert not core.is_encoded(record)
    item = core.message_item(record)
    assert core.is_encoded(record) and core.message_item(record) is item
    assert not new.is_encoded(record)
    other = protobuf.envelope("events.k8s.io/v1", "Event", protobuf.item_message(new.message_item(record)))
    assert protobuf.decode(other, ("", "", ""))["metadata"]["name"] == "e"
    assert core.message_item(record) == item
