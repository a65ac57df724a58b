"""Which containers ended, as the runtime reports it; starts are the kubelet's own doing and are not reported.

containerd has a stream of its own behind the same socket; other runtimes are asked for CRI's stream of events.
Where there is neither, the caller has to poll.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from cri_api.v1 import api_pb2 as messages

from pybernetes.lib.grpc.channel import RpcError, StatusCode, StreamCall
from pybernetes.node.kubelet.cri.client import CriClient
from pybernetes.node.kubelet.cri.containerd import TYPES
from pybernetes.node.kubelet.cri.messages import Message

_SUBSCRIBE = "/containerd.services.events.v1.Events/Subscribe"
_TOPICS = ("/tasks/exit", "/tasks/oom", "/tasks/paused", "/tasks/resumed")


class Unsupported(Exception):
    """The runtime has no such stream."""


async def changed_containers(cri: CriClient) -> AsyncIterator[str]:
    """Yield the ids of containers and sandboxes that changed, beginning with "" once the stream is open."""
    try:
        async for container in _containerd(cri):
            yield container
    except Unsupported:
        async for container in _standard(cri):
            yield container


async def _containerd(cri: CriClient) -> AsyncIterator[str]:
    subscribe = cri.channel.unary_stream(
        _SUBSCRIBE,
        request_serializer=TYPES["SubscribeRequest"].SerializeToString,
        response_deserializer=TYPES["Envelope"].FromString,
    )
    call = subscribe(TYPES["SubscribeRequest"](filters=[f'topic=="{topic}"' for topic in _TOPICS]))
    with _stream(call):
        # The response headers come with the first event, so there is nothing to wait for here.
        yield ""
        async for envelope in call:
            container = concerned(envelope)
            if container:
                yield container


def concerned(envelope: Message) -> str:
    """Return the container that an event of containerd is about, if it is about the container itself."""
    body = TYPES["TaskEvent"].FromString(envelope.event.value)
    # The end of a command in a container (exec) says nothing about the container.
    if envelope.topic == "/tasks/exit" and body.id not in ("", body.container_id):
        return ""
    return body.container_id


async def _standard(cri: CriClient) -> AsyncIterator[str]:
    call, silent = cri.container_events(), True
    with _stream(call):
        yield ""
        async for event in call:
            silent = False
            if event.container_event_type == messages.CONTAINER_STOPPED_EVENT:
                yield event.container_id
    if silent:  # CRI-O ends the stream at once where events are off, as they are by default
        raise Unsupported


@contextmanager
def _stream(call: StreamCall) -> Iterator[None]:
    """Turn the end of a stream into the error that it means, and cancel the call in any case."""
    try:
        yield
    except RpcError as error:
        if error.code is StatusCode.UNIMPLEMENTED:
            raise Unsupported from None
        raise ConnectionError(error.details) from None
    finally:
        call.cancel()
