"""Nodes and pods in short."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object


def node(
    name: str, cpu: str = "4", pods: str = "110", labels: dict[str, str] | None = None, **spec: Any
) -> Object:
    """Return a node with 8Gi of memory."""
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": pods}
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
    return {"metadata": meta, "spec": spec, "status": {"capacity": amounts, "allocatable": amounts}}


def pod(name: str, cpu: str = "1", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """Return a pod with one container."""
    container = {"name": "main", "image": "example/app:1", "resources": {"requests": {"cpu": cpu}}}
    meta: Object = {"name": name, "namespace": "default"}
    if labels:
        meta["labels"] = labels
    return {"metadata": meta, "spec": {"containers": [container], **spec}}


def budget(
    allowed: int, name: str = "b", namespace: str = "default", spec: Any = None, **status: Any
) -> Object:
    """Return a disruption budget of the pods with the label app=a."""
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, **(spec or {})},
        "status": {"disruptionsAllowed": allowed, **status},
    }
