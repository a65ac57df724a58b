"""How much memory a request's body takes once it is an object, guessed from the marks in it."""

from __future__ import annotations

from pybernetes.api import protobuf
from pybernetes.control_plane.apiserver.codec.body_weight import may_expand
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.memory import memory_room
from pybernetes.lib.memory.memory_shares import MemoryShares

# A body is there as bytes, as text inside of values, as an object and in what is written of it.
_COPIES = 4
# What begins a value, and how much each of them costs: a text or a small object, twice, and its place.
_NO_MARKS = bytes(set(range(256)) - set(b',:"[{\n'))
_MARK_BYTES = 100
# What an item costs beyond that: its name among the fields of its writer, and what it is sorted by. An item of a set, a number,
# was measured with 130 to 185 bytes in all.
_ITEM_BYTES = 60
# A message can be as short as two bytes, and nobody knows before it is read.
_PROTOBUF_BYTES = 64
_MEGABYTE = 1 << 20
# What aliases and copies stand for is bounded by 3 MB of text each, which may be made of small objects.
_EXPANDED = 64 * _MEGABYTE


def decoded_size(request: Request) -> int:
    """Return about how many bytes of memory the object of a request takes."""
    raw = request.body
    if may_expand(request):
        return _EXPANDED
    if request.header(b"content-type").startswith(protobuf.MEDIA_TYPE):
        return _PROTOBUF_BYTES * len(raw)
    marks = raw.translate(None, _NO_MARKS)
    items = marks.count(b",") + marks.count(b"\n")
    return _COPIES * len(raw) + _MARK_BYTES * len(marks) + _ITEM_BYTES * items


def shares() -> MemoryShares:
    """Return the memory that all large bodies of a server have, and those of one user; nearly all fit at once."""
    room = memory_room.room()
    most = min(256 * _MEGABYTE, room // 4)
    return MemoryShares(most=most, share=most // 2, waiting=2 * most, room=room)
