"""Claims and volumes for tables."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object


def claim(size: str = "1Gi", *modes: str, annotations: Object | None = None, **spec: Any) -> Object:
    return {
        "metadata": {
            "name": "claim", "namespace": "default", "uid": "claim-uid", "resourceVersion": "1",
            "annotations": annotations or {},
        },
        "spec": {
            "accessModes": list(modes) or ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **spec,
        },
        "status": {"phase": "Pending"},
    }  # fmt: skip


def volume(
    name: str,
    size: str = "1Gi",
    *modes: str,
    phase: str = "Available",
    annotations: Object | None = None,
    **spec: Any,
) -> Object:
    return {
        "metadata": {"name": name, "labels": {"disk": name}, "annotations": annotations or {}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": list(modes) or ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            **spec,
        },
        "status": {"phase": phase},
    }


def reference(uid: str | None = "claim-uid", name: str = "claim") -> Object:
    return {"namespace": "default", "name": name, **({"uid": uid} if uid is not None else {})}
