"""Serves a cloud by upstream's external gRPC protocol, so that any cluster-autoscaler can drive it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from pybernetes.api import protobuf
from pybernetes.control_plane.autoscaler.externalgrpc import messages
from pybernetes.control_plane.autoscaler.provider import (
    CREATING,
    DELETING,
    RUNNING,
    CloudError,
    CloudProvider,
    NodeReference,
    NotImplementedByCloud,
)

_NODE = "io.k8s.api.core.v1.Node"
_STATES = {RUNNING: 1, CREATING: 2, DELETING: 3}
_MOST_BYTES = 4 << 20
Answer = Callable[[Any], Awaitable[Any]]


class CloudServer:
    """Answers for a cloud. Pricing, GPUs and options of single groups are not served, which clients understand."""

    def __init__(self, cloud: CloudProvider) -> None:
        self._cloud = cloud
        self._server = grpc.aio.server(options=[("grpc.max_receive_message_length", _MOST_BYTES)])
        answers: dict[str, Answer] = {
            "NodeGroups": self._groups,
            "NodeGroupForNode": self._group_of,
            "GPULabel": self._nothing("GPULabel"),
            "GetAvailableGPUTypes": self._nothing("GetAvailableGPUTypes"),
            "Cleanup": self._nothing("Cleanup"),
            "Refresh": self._refresh,
            "NodeGroupTargetSize": self._target_size,
            "NodeGroupIncreaseSize": self._increase,
            "NodeGroupDeleteNodes": self._delete,
            "NodeGroupDecreaseTargetSize": self._decrease,
            "NodeGroupNodes": self._instances,
            "NodeGroupTemplateNodeInfo": self._template,
        }
        handlers = {
            method: grpc.unary_unary_rpc_method_handler(
                _guarded(answer),
                request_deserializer=messages.request(method).FromString,
                response_serializer=messages.response(method).SerializeToString,
            )
            for method, answer in answers.items()
        }
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(messages.SERVICE, handlers),)
        )

    def listen(self, address: str, tls: tuple[bytes, bytes, bytes] | None = None) -> int:
        """Listen, with a key, its certificate and the authority of clients; return the port."""
        if tls is None:
            return self._server.add_insecure_port(address)
        key, certificate, authority = tls
        credentials = grpc.ssl_server_credentials([(key, certificate)], authority, require_client_auth=True)
        return self._server.add_secure_port(address, credentials)

    async def start(self) -> None:
        """Begin to serve."""
        await self._server.start()

    async def stop(self) -> None:
        """Stop serving."""
        await self._server.stop(1.0)

    def _nothing(self, method: str) -> Answer:
        async def answer(request: Any) -> Any:
            return messages.response(method)()

        return answer

    async def _refresh(self, request: Any) -> Any:
        await self._cloud.refresh()
        return messages.response("Refresh")()

    async def _groups(self, request: Any) -> Any:
        answer = messages.response("NodeGroups")()
        for group in await self._cloud.node_groups():
            answer.nodeGroups.add(
                id=group.id, minSize=group.minimum, maxSize=group.maximum, debug=group.debug
            )
        return answer

    async def _group_of(self, request: Any) -> Any:
        answer = messages.response("NodeGroupForNode")()
        name = await self._cloud.group_of(_reference(request.node))
        group = next((group for group in await self._cloud.node_groups() if group.id == name), None)
        if group is not None:
            answer.nodeGroup.CopyFrom(
                messages.CLASSES["NodeGroup"](
                    id=group.id, minSize=group.minimum, maxSize=group.maximum, debug=group.debug
                )
            )
        else:
            answer.nodeGroup.SetInParent()
        return answer

    async def _target_size(self, request: Any) -> Any:
        size = await self._cloud.target_size(request.id)
        return messages.response("NodeGroupTargetSize")(targetSize=size)

    async def _increase(self, request: Any) -> Any:
        if request.delta <= 0:
            raise CloudError(f"size increase must be positive, have: {request.delta}")
        await self._cloud.increase(request.id, request.delta)
        return messages.response("NodeGroupIncreaseSize")()

    async def _delete(self, request: Any) -> Any:
        await self._cloud.delete_nodes(request.id, [_reference(node) for node in request.nodes])
        return messages.response("NodeGroupDeleteNodes")()

    async def _decrease(self, request: Any) -> Any:
        if request.delta >= 0:
            raise CloudError(f"size decrease must be negative, have: {request.delta}")
        await self._cloud.decrease_target(request.id, request.delta)
        return messages.response("NodeGroupDecreaseTargetSize")()

    async def _instances(self, request: Any) -> Any:
        answer = messages.response("NodeGroupNodes")()
        for instance in await self._cloud.instances(request.id):
            made = answer.instances.add(id=instance.id)
            made.status.instanceState = _STATES.get(instance.state, 0)
            if instance.error_code:
                made.status.errorInfo.errorCode = instance.error_code
                made.status.errorInfo.errorMessage = instance.error_message
                made.status.errorInfo.instanceErrorClass = instance.error_class
        return answer

    async def _template(self, request: Any) -> Any:
        node = await self._cloud.template(request.id)
        data = protobuf.message(_NODE, node) if node is not None else b""
        return messages.response("NodeGroupTemplateNodeInfo")(nodeBytes=data)


def _reference(node: Any) -> NodeReference:
    return NodeReference(node.name, node.providerID, dict(node.labels), dict(node.annotations))


def _guarded(answer: Answer) -> Callable[[Any, Any], Awaitable[Any]]:
    """Return a handler that tells clients of a cloud's errors."""

    async def handle(request: Any, context: Any) -> Any:
        try:
            return await answer(request)
        except NotImplementedByCloud as error:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, str(error))
        except CloudError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    return handle
