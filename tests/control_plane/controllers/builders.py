"""Small objects for tables: what a decision looks at and nothing more."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339

NOW = 1_700_000_000.0


def stamp(ago: float = 0.0) -> str:
    """Return a time so many seconds before NOW."""
    return rfc3339.seconds(NOW - ago)


def template(image: str = "nginx:1", **labels: str) -> Object:
    """Return a pod template."""
    return {
        "metadata": {"labels": {"app": "web", **labels}},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }


def pod(
    name: str, *, phase: str = "Running", ready: bool | float = False, node: str = "n1", ago: float = 100,
    deleted: bool = False, labels: Object | None = None, annotations: Object | None = None, restarts: int = 0,
    finalizers: list[str] | None = None, owner: Object | None = None, exit_code: int | None = None, **more: Any,
) -> Object:  # fmt: skip
    """Return a pod; ``ready`` may say for how many seconds it has been so."""
    meta: Object = {
        "name": name, "namespace": "default", "uid": f"uid-{name}", "creationTimestamp": stamp(ago),
        "labels": labels if labels is not None else {"app": "web"}, "annotations": annotations or {},
    }  # fmt: skip
    if deleted:
        meta["deletionTimestamp"] = stamp()
    if finalizers:
        meta["finalizers"] = finalizers
    if owner:
        meta["ownerReferences"] = [reference(owner)]
    spec: Object = {"containers": [{"name": "main", "image": "nginx:1"}], **more.pop("spec", {})}
    if node:
        spec["nodeName"] = node
    status: Object = {"phase": phase} if phase else {}
    if ready is not False:
        since = stamp(50 if ready is True else ready)
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    if restarts or exit_code is not None:
        container: Object = {"name": "main", "restartCount": restarts, "state": {}}
        if exit_code is not None:
            container["state"] = {"terminated": {"exitCode": exit_code, "finishedAt": stamp(5)}}
        status["containerStatuses"] = [container]
    status |= more
    return {"metadata": meta, "spec": spec, "status": status}


def reference(owner: Object, kind: str = "Job") -> Object:
    """Return a reference to an owner."""
    return {
        "apiVersion": "v1", "kind": kind, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
        "controller": True,
    }  # fmt: skip


def meta(name: str, ago: float = 1000, **more: Any) -> Object:
    """Return metadata of a stored object."""
    return {
        "name": name, "namespace": "default", "uid": f"uid-{name}", "generation": 1, "creationTimestamp": stamp(ago),
        **more,
    }  # fmt: skip
