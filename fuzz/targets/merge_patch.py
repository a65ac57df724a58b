"""JSON merge patches (RFC 7396): what is applied twice is the same as once, and the document stays as it was."""

from __future__ import annotations

import orjson

from fuzz.engine.target import Target
from fuzz.targets import _patched
from pybernetes.api.errors import StatusError
from pybernetes.api.patch import merge_patch


def run(data: bytes) -> None:
    """Apply a patch to a Deployment, twice."""
    patch, document = _patched.value_of(data), _patched.deployment()
    before = orjson.dumps(document)
    result = merge_patch.apply(document, patch)
    assert orjson.dumps(document) == before, "the document was changed in place"
    assert merge_patch.apply(result, patch) == result


TARGET = Target(
    run, (StatusError, _patched.NoInput), seeds=_patched.SEEDS, words=_patched.WORDS, per_byte=20e-6
)
