"""Deployments and their ReplicaSets for tables."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.deployment import sets
from pybernetes.control_plane.controllers.deployment.plan import Plan, plan
from pybernetes.control_plane.controllers.deployment.sets import DESIRED, MAXIMUM, REVISION
from tests.control_plane.controllers.builders import NOW, meta, template

REFERENCE = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "name": "web",
    "uid": "uid-web",
    "controller": True,
}


def deployment(
    replicas: int = 10, surge: Any = 0, unavailable: Any = 0, image: str = "nginx:1", *, strategy: str = "RollingUpdate",
    status: Object | None = None, annotations: Object | None = None, **spec: Any,
) -> Object:  # fmt: skip
    strategy_: Object = {"type": strategy}
    if strategy == "RollingUpdate":
        strategy_["rollingUpdate"] = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {
        "kind": "Deployment",
        "metadata": {**meta("web"), **({"annotations": annotations} if annotations else {})},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template(image),
            "strategy": strategy_, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10, **spec,
        },
        "status": status or {},
    }  # fmt: skip


def replica_set(
    name: str, replicas: int, available: int | None = None, image: str = "nginx:0", *, ago: float = 500,
    desired: int | None = None, maximum: int | None = None, revision: int | None = None, **annotations: str,
) -> Object:  # fmt: skip
    given = dict(annotations)
    for key, value in ((DESIRED, desired), (MAXIMUM, maximum), (REVISION, revision)):
        if value is not None:
            given[key] = str(value)
    seen = replicas if available is None else available
    labels = {sets.HASH_LABEL: name}
    return {
        "metadata": meta(name, ago, annotations=given),
        "spec": {"replicas": replicas, "template": template(image, **labels)},
        "status": {
            "replicas": replicas, "readyReplicas": seen, "availableReplicas": seen, "terminatingReplicas": 0,
            "observedGeneration": 1,
        },
    }  # fmt: skip


def planned(deployment: Object, *replica_sets: Object, pods: bool = False) -> Plan:
    return plan(deployment, list(replica_sets), REFERENCE, NOW, lambda _: pods)
