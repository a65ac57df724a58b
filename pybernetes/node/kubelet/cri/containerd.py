"""What containerd offers beside CRI, behind the same socket: events, snapshots and the leases that keep them.

The messages are built from the table below, which has only what is used here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from pybernetes.lib.grpc.channel import Channel, RpcError
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.messages import Message

NAMESPACE = "k8s.io"  # CRI's images and containers are in it
_SECONDS = 120.0
_KEPT_AS = (
    "containerd.io/gc.ref.snapshot."  # a label of unpacked content: the snapshotter, and the snapshot in it
)
_PACKAGE = "pybernetes.containerd"
_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {"": _FIELD.TYPE_STRING, "bool": _FIELD.TYPE_BOOL, "bytes": _FIELD.TYPE_BYTES}
# Fields with their numbers: a string unless another type is named; "*" is a list, "map" maps strings to strings.
_MESSAGES = {
    "Empty": {},
    "ContentRequest": {"digest": (1, "")},
    "ContentInfo": {"digest": (1, ""), "labels": (5, "map")},
    "ContentResponse": {"info": (1, "ContentInfo")},
    "ViewRequest": {"snapshotter": (1, ""), "key": (2, ""), "parent": (3, "")},
    "Mount": {"type": (1, ""), "source": (2, ""), "target": (3, ""), "options": (4, "*")},
    "ViewResponse": {"mounts": (1, "*Mount")},
    "Lease": {"id": (1, ""), "labels": (3, "map")},
    "LeaseRequest": {"id": (1, ""), "labels": (3, "map")},
    "DeleteLeaseRequest": {"id": (1, ""), "sync": (2, "bool")},
    "ListLeasesRequest": {"filters": (1, "*")},
    "ListLeasesResponse": {"leases": (1, "*Lease")},
    "SubscribeRequest": {"filters": (1, "*")},
    "Envelope": {"topic": (3, ""), "event": (4, "AnyEvent")},
    "AnyEvent": {"value": (2, "bytes")},
    "TaskEvent": {"container_id": (1, ""), "id": (2, "")},  # the fields that all task events begin with
}
_METHODS = {
    "content": ("content.v1.Content/Info", "ContentRequest", "ContentResponse"),
    "view": ("snapshots.v1.Snapshots/View", "ViewRequest", "ViewResponse"),
    "lease": ("leases.v1.Leases/Create", "LeaseRequest", "Empty"),
    "unlease": ("leases.v1.Leases/Delete", "DeleteLeaseRequest", "Empty"),
    "leases": ("leases.v1.Leases/List", "ListLeasesRequest", "ListLeasesResponse"),
}


def _build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="containerd.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            _add_field(message, f".{_PACKAGE}.{name}", field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


def _add_field(message: Message, where: str, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number, label=_FIELD.LABEL_OPTIONAL)
    if kind.startswith("*") or kind == "map":
        field.label = _FIELD.LABEL_REPEATED
    kind = kind.removeprefix("*")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    elif kind == "map":
        entry = message.nested_type.add(name=f"{name.capitalize()}Entry")
        entry.options.map_entry = True
        for position, part in enumerate(("key", "value"), 1):
            entry.field.add(name=part, number=position, type=_FIELD.TYPE_STRING, label=_FIELD.LABEL_OPTIONAL)
        field.type, field.type_name = _FIELD.TYPE_MESSAGE, f"{where}.{entry.name}"
    else:
        field.type, field.type_name = _FIELD.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"


TYPES = _build()


class Containerd:
    """The services of a containerd, over the connection that CRI has."""

    def __init__(self, channel: Channel) -> None:
        self._methods = {
            name: channel.unary_unary(
                f"/containerd.services.{path}",
                request_serializer=TYPES[request].SerializeToString,
                response_deserializer=TYPES[answer].FromString,
            )
            for name, (path, request, answer) in _METHODS.items()
        }

    async def _call(self, name: str, lease: str = "", **fields: Any) -> Message:
        about = [("containerd-namespace", NAMESPACE)] + ([("containerd-lease", lease)] if lease else [])
        request = TYPES[_METHODS[name][1]](**fields)
        try:
            return await self._methods[name](request, metadata=about, timeout=_SECONDS)
        except RpcError as error:
            raise CriError(error.code.name, error.details or error.code.name) from None

    async def unpacked(self, image: str) -> tuple[str, str]:
        """Return the snapshotter and the snapshot that have an image's files; ``image`` is its id in CRI."""
        labels = (await self._call("content", digest=image)).info.labels
        for key in sorted(labels):
            if key.startswith(_KEPT_AS):
                return key.removeprefix(_KEPT_AS), labels[key]
        raise CriError("FAILED_PRECONDITION", f"the files of the image {image} are not unpacked")

    async def view(self, snapshotter: str, key: str, parent: str, lease: str) -> list[Message]:
        """Create a read-only view of a snapshot that lives as long as the lease; return its mounts."""
        answer = await self._call("view", lease, snapshotter=snapshotter, key=key, parent=parent)
        return list(answer.mounts)

    async def create_lease(self, id_: str, labels: Mapping[str, str]) -> None:
        """Create a lease without an expiry."""
        await self._call("lease", id=id_, labels=dict(labels))

    async def lease_labels(self, id_: str) -> dict[str, str] | None:
        """Return the labels of a lease, or None if it is not there."""
        leases = (await self._call("leases", filters=[f'id=="{id_}"'])).leases
        return dict(leases[0].labels) if leases else None

    async def delete_lease(self, id_: str) -> None:
        """Delete a lease if it exists; return when everything that only it kept is gone."""
        try:
            await self._call("unlease", id=id_, sync=True)
        except CriError as error:
            if error.code != "NOT_FOUND":
                raise
