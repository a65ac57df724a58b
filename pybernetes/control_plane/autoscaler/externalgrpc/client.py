"""A cloud behind upstream's external gRPC protocol."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import grpc
import grpc.aio

from pybernetes.api import protobuf
from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.externalgrpc import messages
from pybernetes.control_plane.autoscaler.externalgrpc.config import CloudConfig
from pybernetes.control_plane.autoscaler.provider import (
    CREATING,
    DELETING,
    RUNNING,
    CloudError,
    GroupOptions,
    Instance,
    NodeGroup,
    NodeReference,
    NotImplementedByCloud,
)

_STATES = {1: RUNNING, 2: CREATING, 3: DELETING}
# What a provider may say: more is an error, or is cut off where it is for people to read.
_MOST_BYTES = 16 << 20
_MOST_GROUPS = 2000
_MOST_MACHINES = 100_000
_LONGEST_ID = 1024
_LONGEST_TEXT = 512
_LONGEST_CODE = 64
_LONGEST_SECONDS = 10 * 365 * 86400.0
_POD, _NODE = "io.k8s.api.core.v1.Pod", ("", "v1", "Node")


class ExternalGrpcProvider:
    """Speaks to one provider. What it answers is checked before it is used."""

    def __init__(self, config: CloudConfig) -> None:
        self._seconds = config.seconds
        options = [("grpc.max_receive_message_length", _MOST_BYTES)]
        if config.certificate:
            credentials = grpc.ssl_channel_credentials(config.authority, config.key, config.certificate)
            self._channel = grpc.aio.secure_channel(config.address, credentials, options)
        else:
            self._channel = grpc.aio.insecure_channel(config.address, options)
        self._calls = {
            method: self._channel.unary_unary(
                f"/{messages.SERVICE}/{method}",
                request_serializer=messages.request(method).SerializeToString,
                response_deserializer=messages.response(method).FromString,
            )
            for method in messages.METHODS
        }

    async def _call(self, method: str, **fields: Any) -> Any:
        try:
            answer = await self._calls[method](messages.request(method)(**fields), timeout=self._seconds)
        except grpc.aio.AioRpcError as error:
            kind = NotImplementedByCloud if error.code() is grpc.StatusCode.UNIMPLEMENTED else CloudError
            raise kind(
                f"rpc error: code = {error.code().name} desc = {(error.details() or '')[:_LONGEST_TEXT]}"
            ) from None
        if answer is None:  # as the library has it
            raise CloudError(f"what the cloud answers to {method} cannot be read")
        return answer

    async def refresh(self) -> None:
        """Have the provider look at its cloud."""
        await self._call("Refresh")

    async def node_groups(self) -> list[NodeGroup]:
        """Return the groups; one without a name of its own or with impossible sizes is an error."""
        answer = await self._call("NodeGroups")
        groups = [
            NodeGroup(group.id, group.minSize, group.maxSize, group.debug[:_LONGEST_TEXT])
            for group in answer.nodeGroups
        ]
        for group in groups:
            if not 0 <= group.minimum <= group.maximum:
                raise CloudError(f"the cloud has a group that cannot be: {str(group)[:_LONGEST_TEXT]}")
        _check_ids("groups", [group.id for group in groups], _MOST_GROUPS)
        return groups

    async def group_of(self, node: NodeReference) -> str:
        """Return the group of a node."""
        return (await self._call("NodeGroupForNode", node=_node(node))).nodeGroup.id

    async def target_size(self, group: str) -> int:
        """Return the wanted size of a group."""
        size: int = (await self._call("NodeGroupTargetSize", id=group)).targetSize
        if not 0 <= size <= _MOST_MACHINES:
            raise CloudError(f"the cloud has a size of {group} that cannot be: {size}")
        return size

    async def instances(self, group: str) -> list[Instance]:
        """Return the machines of a group."""
        answer = await self._call("NodeGroupNodes", id=group)
        _check_ids(f"machines of {group}", [instance.id for instance in answer.instances], _MOST_MACHINES)
        return [
            Instance(
                instance.id,
                _STATES.get(instance.status.instanceState, ""),
                instance.status.errorInfo.errorCode[:_LONGEST_CODE],
                instance.status.errorInfo.errorMessage[:_LONGEST_TEXT],
                instance.status.errorInfo.instanceErrorClass,
            )
            for instance in answer.instances
        ]

    async def template(self, group: str) -> Object | None:
        """Return the Node of a new machine."""
        try:
            data = (await self._call("NodeGroupTemplateNodeInfo", id=group)).nodeBytes
        except NotImplementedByCloud:
            return None
        if not data:
            return None
        try:
            return protobuf.decode(protobuf.envelope("v1", "Node", data), _NODE)
        except protobuf.ProtobufError as error:
            raise CloudError(f"the template of {group} is no Node: {error}") from None

    async def options(self, group: str, defaults: GroupOptions) -> GroupOptions:
        """Return the options of a group."""
        given = messages.CLASSES["NodeGroupAutoscalingOptions"](
            scaleDownUtilizationThreshold=defaults.utilization_threshold,
            scaleDownGpuUtilizationThreshold=defaults.gpu_utilization_threshold,
            ignoreDaemonSetsUtilization=defaults.ignores_daemon_sets,
        )
        given.scaleDownUnneededDuration.FromNanoseconds(round(defaults.unneeded_seconds * 1e9))
        given.scaleDownUnreadyDuration.FromNanoseconds(round(defaults.unready_seconds * 1e9))
        given.MaxNodeProvisionDuration.FromNanoseconds(round(defaults.provision_seconds * 1e9))
        try:
            answer = await self._call("NodeGroupGetOptions", id=group, defaults=given)
        except NotImplementedByCloud:
            return defaults
        if not answer.HasField("nodeGroupAutoscalingOptions"):
            return defaults
        chosen = answer.nodeGroupAutoscalingOptions
        if chosen.zeroOrMaxNodeScaling:
            raise CloudError(f"{group}: zeroOrMaxNodeScaling is not supported; the group is left alone")
        options = GroupOptions(
            chosen.scaleDownUtilizationThreshold,
            chosen.scaleDownGpuUtilizationThreshold,
            chosen.scaleDownUnneededDuration.ToNanoseconds() / 1e9,
            chosen.scaleDownUnreadyDuration.ToNanoseconds() / 1e9,
            chosen.MaxNodeProvisionDuration.ToNanoseconds() / 1e9,
            chosen.ignoreDaemonSetsUtilization,
        )
        if not all(0 <= value <= _LONGEST_SECONDS for value in options[:5]):  # which is not so for NaN
            raise CloudError(f"the cloud has options of {group} that cannot be: {options}")
        return options

    async def increase(self, group: str, delta: int) -> None:
        """Give a group more machines."""
        await self._call("NodeGroupIncreaseSize", id=group, delta=delta)

    async def delete_nodes(self, group: str, nodes: Sequence[NodeReference]) -> None:
        """Delete machines of a group."""
        await self._call("NodeGroupDeleteNodes", id=group, nodes=[_node(node) for node in nodes])

    async def decrease_target(self, group: str, delta: int) -> None:
        """Take back a wish."""
        await self._call("NodeGroupDecreaseTargetSize", id=group, delta=delta)

    async def node_price(self, node: NodeReference, seconds: float) -> float:
        """Return the price of a node."""
        return _price(await self._call("PricingNodePrice", **_span(seconds), node=_node(node)))

    async def pod_price(self, pod: Object, seconds: float) -> float:
        """Return the price of a pod."""
        data = protobuf.message(_POD, pod)
        return _price(await self._call("PricingPodPrice", **_span(seconds), pod_bytes=data))

    async def close(self) -> None:
        """Close the connection."""
        await self._channel.close()


def _node(node: NodeReference) -> Any:
    return messages.CLASSES["ExternalGrpcNode"](
        providerID=node.provider_id, name=node.name, labels=node.labels, annotations=node.annotations
    )


def _check_ids(what: str, ids: Sequence[str], most: int) -> None:
    """Raise CloudError for names that are missing, too long, the same, or too many."""
    if len(ids) > most:
        raise CloudError(f"the cloud has more than {most} {what}")
    if not all(0 < len(name) <= _LONGEST_ID for name in ids):
        raise CloudError(f"the cloud has {what} without a name, or with one longer than {_LONGEST_ID}")
    if len(set(ids)) < len(ids):
        name = next(name for name, count in Counter(ids).items() if count > 1)
        raise CloudError(f"the cloud has two {what} with the name {name}")


def _span(seconds: float) -> dict[str, Any]:
    from google.protobuf.timestamp_pb2 import Timestamp

    now = time.time_ns()
    return {
        name: Timestamp(seconds=moment // 10**9, nanos=moment % 10**9)
        for name, moment in (("startTimestamp", now), ("endTimestamp", now + round(seconds * 1e9)))
    }


def _price(answer: Any) -> float:
    price: float = answer.price
    if not math.isfinite(price) or price < 0:
        raise CloudError(f"the cloud has a price that is none: {price}")
    return price
