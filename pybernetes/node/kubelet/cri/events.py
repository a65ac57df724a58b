"""Which containers ended or were stopped short, as the runtime tells it; what it starts is our own doing.

A runtime with CRI's own stream of events is asked for that; containerd, whose older versions have none, has a stream
of its own behind the same socket. Where there is neither, the caller has to look from time to time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc
import grpc.aio
from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.cri.client import Cri

_SUBSCRIBE = "/containerd.services.events.v1.Events/Subscribe"
_TOPICS = ("/tasks/exit", "/tasks/oom", "/tasks/paused", "/tasks/resumed")


class Unsupported(Exception):
    """The runtime has no such stream."""


async def containers(cri: Cri) -> AsyncIterator[str]:
    """The ids of containers and sandboxes that changed; begins with "" once the stream is open."""
    try:
        async for each in _containerd(cri):
            yield each
    except Unsupported:
        async for each in _standard(cri):
            yield each


async def _containerd(cri: Cri) -> AsyncIterator[str]:
    subscribe = cri.channel.unary_stream(_SUBSCRIBE)
    filters = b"".join(_field(1, f'topic=="{topic}"'.encode()) for topic in _TOPICS)
    call = subscribe(filters)
    try:
        # The head of the answer comes with the first event, so nothing can be waited for here.
        yield ""
        async for envelope in call:
            fields = decode(envelope)
            event = decode(fields.get(4, b""))  # an Any: 2 is its value
            body = decode(event.get(2, b""))
            container = body.get(1, b"")
            # The end of a command that was run in a container says nothing about the container.
            if fields.get(3) == b"/tasks/exit" and body.get(2, container) != container:
                continue
            if isinstance(container, bytes):
                yield container.decode()
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            raise Unsupported from None
        raise ConnectionError(error.details()) from None
    finally:
        call.cancel()


async def _standard(cri: Cri) -> AsyncIterator[str]:
    call = cri.container_events()
    try:
        yield ""
        async for event in call:
            if event.container_event_type == messages.CONTAINER_STOPPED_EVENT:
                yield event.container_id
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            raise Unsupported from None
        raise ConnectionError(error.details()) from None
    finally:
        call.cancel()


def _field(number: int, value: bytes) -> bytes:
    return bytes((number << 3 | 2,)) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: bytes) -> dict[int, bytes]:
    """The fields of a protobuf message that are texts or messages, by number, the last of each."""
    found: dict[int, bytes] = {}
    position = 0
    while position < len(data):
        key, position = _read_varint(data, position)
        kind = key & 7
        if kind == 0:
            _, position = _read_varint(data, position)
        elif kind == 2:
            size, position = _read_varint(data, position)
            found[key >> 3] = data[position : position + size]
            position += size
        elif kind in (1, 5):
            position += 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind} is not protobuf's")
    return found


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data):
            raise ValueError("the message ends within a number")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
