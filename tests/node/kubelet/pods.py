"""Pods for tests of the kubelet."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object


def pod(container: Object | None = None, **spec: Any) -> Object:
    """Return a pod ``n/p`` with one container; ``container`` and ``spec`` add fields to them."""
    meta = {"name": "p", "namespace": "n", "uid": "u", "labels": {"a": "b"}, "annotations": {"x": 'q"\n'}}
    return {
        "metadata": meta,
        "spec": {"containers": [{"name": "c", "image": "i", **(container or {})}], **spec},
    }
