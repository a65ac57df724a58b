"""The methods of a service, from its description."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass

from pybernetes.lib.grpc.channel import Channel


class Stub:
    """An attribute for each method of a service: ``await stub.Version(request)``."""

    def __init__(self, channel: Channel, service: ServiceDescriptor) -> None:
        for method in service.methods:
            if method.client_streaming:
                kind: Any = channel.stream_stream
            else:
                kind = channel.unary_stream if method.server_streaming else channel.unary_unary
            call = kind(
                f"/{service.full_name}/{method.name}",
                GetMessageClass(method.input_type).SerializeToString,
                GetMessageClass(method.output_type).FromString,
            )
            setattr(self, method.name, call)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the service has no method {name}")
