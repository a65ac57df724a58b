"""The messages of the KMS v2 protocol, and the one that is stored: built from their fields, as there is no package of them."""

from __future__ import annotations

from functools import cache
from typing import Any

_TEXT, _BYTES, _MAP, _ENUM = "string", "bytes", "map", "int32"
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "StatusRequest": {},
    "StatusResponse": {"version": (1, _TEXT), "healthz": (2, _TEXT), "key_id": (3, _TEXT)},
    "EncryptRequest": {"plaintext": (1, _BYTES), "uid": (2, _TEXT)},
    "EncryptResponse": {"ciphertext": (1, _BYTES), "key_id": (2, _TEXT), "annotations": (3, _MAP)},
    "DecryptRequest": {
        "ciphertext": (1, _BYTES),
        "uid": (2, _TEXT),
        "key_id": (3, _TEXT),
        "annotations": (4, _MAP),
    },
    "DecryptResponse": {"plaintext": (1, _BYTES)},
    # What an object looks like in the store. The type is an enumeration, which is a number on the wire.
    "EncryptedObject": {
        "encryptedData": (1, _BYTES),
        "keyID": (2, _TEXT),
        "encryptedDEKSource": (3, _BYTES),
        "annotations": (4, _MAP),
        "encryptedDEKSourceType": (5, _ENUM),
    },
}
SERVICE = "/v2.KeyManagementService/"


@cache
def classes() -> dict[str, Any]:
    """Return the class of each message; protobuf is imported only now."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    types = {_TEXT: kinds.TYPE_STRING, _BYTES: kinds.TYPE_BYTES, _ENUM: kinds.TYPE_INT32}
    file = descriptor_pb2.FileDescriptorProto(name="kms.proto", package="v2", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            added = message.field.add(name=field, number=number, label=kinds.LABEL_OPTIONAL)
            if kind != _MAP:
                added.type = types[kind]
                continue
            entry = message.nested_type.add(name="AnnotationsEntry")
            entry.options.map_entry = True
            for position, (part, type_) in enumerate((("key", _TEXT), ("value", _BYTES)), 1):
                entry.field.add(name=part, number=position, type=types[type_], label=kinds.LABEL_OPTIONAL)
            added.label, added.type = kinds.LABEL_REPEATED, kinds.TYPE_MESSAGE
            added.type_name = f".v2.{name}.AnnotationsEntry"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"v2.{name}")) for name in _MESSAGES
    }
