"""JSON patches (RFC 6902): applied or refused as a whole; the document that was given stays as it was."""

from __future__ import annotations

import orjson

from fuzz.engine.target import Target
from fuzz.targets import _patched
from pybernetes.api.errors import StatusError
from pybernetes.api.patch import json_patch


def run(data: bytes) -> None:
    """Apply a patch to a Deployment."""
    operations, document = _patched.value_of(data), _patched.deployment()
    before = orjson.dumps(document)
    try:
        result = json_patch.apply(document, operations)
    finally:
        assert orjson.dumps(document) == before, "the document was changed in place"
    orjson.dumps(result)


_PATHS = (
    b"/spec/replicas",
    b"/spec/template/spec/containers/0",
    b"/spec/template/spec/containers/-",
    b"/metadata/labels/app",
    b"/metadata/finalizers/1",
)
TARGET = Target(
    run,
    (StatusError, _patched.NoInput),
    seeds=(
        b'[{"op":"replace","path":"/spec/replicas","value":3},{"op":"test","path":"/spec/replicas","value":3}]',
        b'[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"x"}},{"op":"remove","path":"/metadata/labels"}]',
        b'[{"op":"move","from":"/metadata/finalizers/0","path":"/metadata/labels/x"},{"op":"copy","from":"/spec","path":"/spec/template/a"}]',
    ),
    words=(*(b'"%b"' % path for path in _PATHS), b'"op":"copy"', b'"op":"move"', b'"op":"test"', b'"op":"remove"', b'"from":"/spec"', b'"path":"/spec"',
           b'"value":[]', b'""', b"/~1", b"/~0", b"/-", b"/-1", b"/01", b"{", b"}", b","),
    per_byte=40e-6,
)  # fmt: skip
