"""The messages of upstream's external gRPC provider: field names, numbers and types, as protobuf descriptors."""

from __future__ import annotations

from typing import Any

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    message_factory,
    timestamp_pb2,
)

PACKAGE = "clusterautoscaler.cloudprovider.v1.externalgrpc"
SERVICE = f"{PACKAGE}.CloudProvider"
_FILE = "pybernetes/externalgrpc.proto"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _Field.TYPE_STRING,
    "int32": _Field.TYPE_INT32,
    "bool": _Field.TYPE_BOOL,
    "double": _Field.TYPE_DOUBLE,
    "bytes": _Field.TYPE_BYTES,
}
_TIME, _SPAN, _ANY = "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.Any"

# Name, number and type of every field; "*" stands for a list, "map" for a map from texts.
_MESSAGES: dict[str, tuple[tuple[str, int, str], ...]] = {
    "NodeGroup": (("id", 1, "string"), ("minSize", 2, "int32"), ("maxSize", 3, "int32"), ("debug", 4, "string")),
    "ExternalGrpcNode": (
        ("providerID", 1, "string"),
        ("name", 2, "string"),
        ("labels", 3, "map string"),
        ("annotations", 4, "map string"),
    ),
    "NodeGroupsRequest": (),
    "NodeGroupsResponse": (("nodeGroups", 1, "*NodeGroup"),),
    "NodeGroupForNodeRequest": (("node", 1, "ExternalGrpcNode"),),
    "NodeGroupForNodeResponse": (("nodeGroup", 1, "NodeGroup"),),
    "PricingNodePriceRequest": (
        ("node", 1, "ExternalGrpcNode"),
        ("startTimestamp", 4, _TIME),
        ("endTimestamp", 5, _TIME),
    ),
    "PricingNodePriceResponse": (("price", 1, "double"),),
    "PricingPodPriceRequest": (("pod_bytes", 4, "bytes"), ("startTimestamp", 5, _TIME), ("endTimestamp", 6, _TIME)),
    "PricingPodPriceResponse": (("price", 1, "double"),),
    "GPULabelRequest": (),
    "GPULabelResponse": (("label", 1, "string"),),
    "GetAvailableGPUTypesRequest": (),
    "GetAvailableGPUTypesResponse": (("gpuTypes", 1, f"map {_ANY}"),),
    "CleanupRequest": (),
    "CleanupResponse": (),
    "RefreshRequest": (),
    "RefreshResponse": (),
    "NodeGroupTargetSizeRequest": (("id", 1, "string"),),
    "NodeGroupTargetSizeResponse": (("targetSize", 1, "int32"),),
    "NodeGroupIncreaseSizeRequest": (("delta", 1, "int32"), ("id", 2, "string")),
    "NodeGroupIncreaseSizeResponse": (),
    "NodeGroupDeleteNodesRequest": (("nodes", 1, "*ExternalGrpcNode"), ("id", 2, "string")),
    "NodeGroupDeleteNodesResponse": (),
    "NodeGroupDecreaseTargetSizeRequest": (("delta", 1, "int32"), ("id", 2, "string")),
    "NodeGroupDecreaseTargetSizeResponse": (),
    "NodeGroupNodesRequest": (("id", 1, "string"),),
    "NodeGroupNodesResponse": (("instances", 1, "*Instance"),),
    "Instance": (("id", 1, "string"), ("status", 2, "InstanceStatus")),
    # The state is an enumeration, which looks like a number on the wire.
    "InstanceStatus": (("instanceState", 1, "int32"), ("errorInfo", 2, "InstanceErrorInfo")),
    "InstanceErrorInfo": (("errorCode", 1, "string"), ("errorMessage", 2, "string"), ("instanceErrorClass", 3, "int32")),
    "NodeGroupTemplateNodeInfoRequest": (("id", 1, "string"),),
    "NodeGroupTemplateNodeInfoResponse": (("nodeBytes", 2, "bytes"),),
    "NodeGroupAutoscalingOptions": (
        ("scaleDownUtilizationThreshold", 1, "double"),
        ("scaleDownGpuUtilizationThreshold", 2, "double"),
        ("zeroOrMaxNodeScaling", 6, "bool"),
        ("ignoreDaemonSetsUtilization", 7, "bool"),
        ("scaleDownUnneededDuration", 8, _SPAN),
        ("scaleDownUnreadyDuration", 9, _SPAN),
        ("MaxNodeProvisionDuration", 10, _SPAN),
    ),
    "NodeGroupAutoscalingOptionsRequest": (("id", 1, "string"), ("defaults", 2, "NodeGroupAutoscalingOptions")),
    "NodeGroupAutoscalingOptionsResponse": (("nodeGroupAutoscalingOptions", 1, "NodeGroupAutoscalingOptions"),),
}  # fmt: skip
# Methods whose messages are not called after them.
_OTHER = {"NodeGroupGetOptions": "NodeGroupAutoscalingOptions"}
METHODS = (
    "NodeGroups", "NodeGroupForNode", "PricingNodePrice", "PricingPodPrice", "GPULabel", "GetAvailableGPUTypes", "Cleanup",
    "Refresh", "NodeGroupTargetSize", "NodeGroupIncreaseSize", "NodeGroupDeleteNodes", "NodeGroupDecreaseTargetSize",
    "NodeGroupNodes", "NodeGroupTemplateNodeInfo", "NodeGroupGetOptions",
)  # fmt: skip


def _add_field(message: Any, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
    if kind.startswith("*"):
        field.label, kind = _Field.LABEL_REPEATED, kind[1:]
    if kind.startswith("map "):
        entry = message.nested_type.add(name=f"{name[0].upper()}{name[1:]}Entry")
        entry.options.map_entry = True
        _add_field(entry, "key", 1, "string")
        _add_field(entry, "value", 2, kind.removeprefix("map "))
        field.label, kind = _Field.LABEL_REPEATED, f"{message.name}.{entry.name}"
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{kind}" if kind.startswith("google.") else f".{PACKAGE}.{kind}"


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name=_FILE, package=PACKAGE, syntax="proto3")
    for library in (any_pb2, timestamp_pb2, duration_pb2):
        file.dependency.append(library.DESCRIPTOR.name)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields:
            _add_field(message, *field)
    pool = descriptor_pool.Default()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in _MESSAGES
    }


CLASSES: dict[str, Any] = _classes()


def request(method: str) -> Any:
    """Return the class of a method's request."""
    return CLASSES[f"{_OTHER.get(method, method)}Request"]


def response(method: str) -> Any:
    """Return the class of a method's response."""
    return CLASSES[f"{_OTHER.get(method, method)}Response"]
