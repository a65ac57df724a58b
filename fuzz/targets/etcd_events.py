"""Events of etcd: the mirror takes them in, or the feed refuses them and starts over; it never breaks in between."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from fuzz.engine.target import Target
from pybernetes.control_plane.apiserver.storage.resource_version import check, stamp
from pybernetes.control_plane.store.drivers.etcd.feed import EtcdFeed, kv, rpc
from pybernetes.control_plane.store.drivers.memory import MemoryStore
from pybernetes.control_plane.store.mirror import Mirror
from pybernetes.control_plane.store.protocol import StoreError


def run(data: bytes) -> None:
    """Read the bytes as an answer of a watch, and apply its events."""
    try:
        answer = rpc.WatchResponse.FromString(data)
    except DecodeError:
        return
    nothing: Any = None
    mirror = Mirror(clock=lambda: 0.0)
    make = MemoryStore(stamp=stamp, check=check).checked_record
    feed = EtcdFeed(nothing, mirror, "/registry/", make, "/barrier", nothing)
    feed._apply(answer.events)
    assert all(key == record.key for key, record in mirror.records.items())
    assert mirror.revision >= max((record.revision for record in mirror.records.values()), default=0)


def _event(key: bytes, revision: int, kind: int = 0) -> Any:
    return kv.Event(
        type=kind,
        kv=kv.KeyValue(key=key, value=b'{"kind":"Pod"}', mod_revision=revision, create_revision=1, version=2),
    )


_ANSWERS = (
    rpc.WatchResponse(
        events=[_event(b"/registry/pods/default/a", 5), _event(b"/registry/pods/default/a", 6, 1)]
    ),
    rpc.WatchResponse(
        events=[_event(b"/registry/pods/default/a", 5), _event(b"/registry/pods/default/b", 5)]
    ),
)
TARGET = Target(
    run,
    (StoreError,),
    seeds=tuple(answer.SerializeToString() for answer in _ANSWERS),
    words=(
        b"/registry/",
        b"\x0a",
        b"\x12",
        b"\x08\x01",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x80",
        b"\0",
    ),
)
