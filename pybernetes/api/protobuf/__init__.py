"""Kubernetes' protobuf form: read from clients that send it, and written for those that ask for it.

Messages are described by the JSON schemas together with the field numbers in ``schema/fields.txt``.
"""

from pybernetes.api.protobuf.decode import decode
from pybernetes.api.protobuf.encode import (
    encode,
    envelope,
    item,
    item_message,
    list_parts,
    message,
    watch_event,
)
from pybernetes.api.protobuf.shapes import MEDIA_TYPE, ProtobufError

__all__ = [
    "MEDIA_TYPE",
    "ProtobufError",
    "decode",
    "encode",
    "envelope",
    "item",
    "item_message",
    "list_parts",
    "message",
    "watch_event",
]
