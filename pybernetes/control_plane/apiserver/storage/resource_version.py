"""Stored bytes as the API server works with them, whoever wrote them.

Another API server on the same etcd may be upstream's, which ends its JSON with a newline, keeps some kinds at an
older version that has the same fields, and by default stores protobuf.
"""

from __future__ import annotations

import orjson

from pybernetes.api import protobuf
from pybernetes.api.text import go_format

_META = b'"metadata":{'
_HEAD = b'{"kind":"%b","apiVersion":"%b",'
# Kinds that upstream v1.37 stores at a version before the one that it serves first.
_OLDER = {
    _HEAD % (kind, group + old): _HEAD % (kind, group + b"v1")
    for kind, group, old in (
        (b"ClusterTrustBundle", b"certificates.k8s.io/", b"v1beta1"),
        (b"PodCertificateRequest", b"certificates.k8s.io/", b"v1beta1"),
        (b"DeviceTaintRule", b"resource.k8s.io/", b"v1beta2"),
        (b"StorageVersionMigration", b"storagemigration.k8s.io/", b"v1beta1"),
    )
}


def stamp(value: bytes, revision: int) -> bytes:
    """Return the stored bytes with the resourceVersion in them, put there without decoding.

    The first ``"metadata":{`` is the object's own, because kind and apiVersion alone come before it. ValueError for bytes
    that are no object.
    """
    if value[:4] == b"k8s\0":
        value = _from_protobuf(value)
    elif value[-1:] == b"\n":
        value = value[:-1]
    if b"beta" in value[:120]:
        for older, newer in _OLDER.items():
            if value.startswith(older):
                value = newer + value[len(older) :]
    start = value.find(_META) + len(_META)
    if start < len(_META) or value[:1] != b"{":
        raise ValueError(f"it is no object: {go_format.quote(value[:20].decode(errors='replace'))}")
    comma = b"" if value[start : start + 1] == b"}" else b","
    return value[:start] + b'"resourceVersion":"%d"%b' % (revision, comma) + value[start:]


def check(value: bytes) -> None:
    """Look closely at an object that another program may have stored; ValueError if it is none."""
    obj = orjson.loads(value)
    if not (
        isinstance(obj, dict)
        and isinstance(obj.get("kind"), str)
        and isinstance(obj.get("apiVersion"), str)
        and isinstance(obj.get("metadata"), dict)
    ):
        raise ValueError("it has no kind, apiVersion or metadata")


def restamp(value: bytes, old: int, new: int) -> bytes:
    """Return the bytes of an object with another resourceVersion, for the event of its deletion."""
    return value.replace(b'"resourceVersion":"%d"' % old, b'"resourceVersion":"%d"' % new, 1)


def _from_protobuf(value: bytes) -> bytes:
    try:
        obj = protobuf.decode(value, ("", "", ""))
    except protobuf.ProtobufError as error:
        raise ValueError(str(error)) from None  # damaged, or of a kind that is not known here
    head = {"kind": obj.pop("kind"), "apiVersion": obj.pop("apiVersion"), "metadata": obj.pop("metadata", {})}
    return orjson.dumps({**head, **obj})
