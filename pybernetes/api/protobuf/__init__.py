"""Kubernetes' protobuf form: read from clients that send it (kubectl create, Go components), never written.

Messages are described by the JSON schemas together with the field numbers in ``schema/fields.txt``.
"""

from pybernetes.api.protobuf.decode import MEDIA_TYPE, ProtobufError, decode

__all__ = ["MEDIA_TYPE", "ProtobufError", "decode"]
