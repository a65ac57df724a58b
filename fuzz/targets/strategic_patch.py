"""Strategic merge patches: applied, or refused with a Status."""

from __future__ import annotations

import orjson

from fuzz.engine.target import Target
from fuzz.targets import _patched
from pybernetes.api.errors import StatusError
from pybernetes.api.patch import strategic


def run(data: bytes) -> None:
    """Apply a patch to a Deployment."""
    patch, document = _patched.value_of(data), _patched.deployment()
    before = orjson.dumps(document)
    result = strategic.apply(document, patch, _patched.TYPE)
    assert orjson.dumps(document) == before, "the document was changed in place"
    orjson.dumps(result)


TARGET = Target(
    run, (StatusError, _patched.NoInput), seeds=_patched.SEEDS, words=_patched.WORDS, per_byte=60e-6
)
