"""Server-side apply: what is applied twice by the same manager changes nothing the second time."""

from __future__ import annotations

from typing import Any

import orjson

from fuzz.engine.target import Target
from fuzz.targets import _patched
from pybernetes.api.apply.apply import apply
from pybernetes.api.errors import StatusError

_NOW = "2026-01-02T03:04:05Z"


def run(data: bytes) -> None:
    """Apply a configuration to a Deployment of somebody else, and once more."""
    applied, live = _patched.value_of(data), _patched.deployment()
    options: dict[str, Any] = {
        "kind": "Deployment",
        "api_version": "apps/v1",
        "manager": "fuzz",
        "force": True,
        "now": _NOW,
    }
    result, fields = apply(live, applied, _patched.TYPE, **options)
    orjson.dumps([result, fields])
    again, _ = apply(
        {**result, "metadata": {**result["metadata"], "managedFields": fields}},
        applied,
        _patched.TYPE,
        **options,
    )
    again["metadata"].pop("managedFields", None)
    assert again == result


TARGET = Target(
    run,
    (StatusError, _patched.NoInput),
    seeds=(
        b'{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3,"template":{"spec":{"containers":'
        b'[{"name":"web","image":"w:3","ports":[{"containerPort":80}]},{"name":"more","image":"m"}]}}}}',
        b'{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"a":"b"},"finalizers":["example.com/b","example.com/c"]}}',
        *_patched.SEEDS,
    ),
    words=(*_patched.WORDS, b'"apiVersion":"apps/v1"', b'"kind":"Deployment"'),
    per_byte=120e-6,
)  # fmt: skip
