"""Claims and their storage classes."""

from __future__ import annotations

from typing import Any

from tests.control_plane.apiserver.admission.world import Object


def claim(name: str = "c", size: str = "1Gi", *, status: Object | None = None, **spec: Any) -> Object:
    asked = {"resources": {"requests": {"storage": size}}, **spec}
    return {"metadata": {"name": name}, "spec": asked, **({"status": status} if status else {})}


def storage_class(
    name: str, made: str = "", *, annotation: str = "storageclass.kubernetes.io", **more: Any
) -> Object:
    meta = {"name": name, "creationTimestamp": f"2026-01-0{made}T00:00:00Z"} if made else {"name": name}
    annotations = {f"{annotation}/is-default-class": "true"} if made else {}
    return {"metadata": {**meta, "annotations": annotations}, **more}
