"""StatefulSets and their pods for tables."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.statefulset import identity
from tests.control_plane.controllers.builders import meta, pod, template

REFERENCE = {"kind": "StatefulSet", "name": "db", "uid": "uid-db", "controller": True}
OLD, NEW = "db-old", "db-new"
CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def stateful_set(replicas: int = 3, **spec: Any) -> Object:
    strategy = spec.pop("strategy", {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
    return {
        "metadata": meta("db"),
        "spec": {
            "replicas": replicas, "serviceName": "svc", "selector": {"matchLabels": {"app": "web"}},
            "template": template(), "updateStrategy": strategy, **spec,
        },
        "status": spec.pop("status", {}),
    }  # fmt: skip


def revision(name: str, image: str) -> Object:
    return {
        "metadata": {"name": name},
        "data": {"spec": {"template": {**template(image), "$patch": "replace"}}},
    }


def member(number: int, revision: str = NEW, **more: Any) -> Object:
    name = f"db-{number}"
    labels = {
        "app": "web", identity.NAME_LABEL: name, identity.INDEX_LABEL: str(number), "controller-revision-hash": revision,
    }  # fmt: skip
    more.setdefault("ready", True)
    return pod(name, labels=labels, **more)


def reference(owner: Object, kind: str, version: str, controller: bool = True) -> Object:
    result = {
        "apiVersion": version, "kind": kind, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }  # fmt: skip
    return {**result, "controller": True} if controller else result


DB, POD0, POD9 = stateful_set(3), member(0), member(9)
TO_POD0, TO_POD9 = reference(POD0, "Pod", "v1"), reference(POD9, "Pod", "v1")
STALE = {**TO_POD0, "uid": "before"}
