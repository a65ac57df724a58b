"""What pods ask for as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object


def container(name: str, cpu: str, **more: Any) -> Object:
    return {"name": name, "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}, **more}


SIDECAR = {"restartPolicy": "Always"}


def resized(cpu: str | None = None, allocated: str | None = None, reason: str = "") -> Object:
    status: Object = {"name": "a"}
    if cpu:
        status["resources"] = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
    if allocated:
        status["allocatedResources"] = {"cpu": allocated}
    conditions = [{"type": "PodResizePending", "reason": reason}] if reason else []
    return {"containerStatuses": [status], "conditions": conditions}


@pytest.mark.parametrize(
    ("spec", "status", "request_", "limit"),
    [
        ({"containers": [container("a", "1"), container("b", "500m")]}, {}, "1500m", "1500m"),
        ({"containers": [container("a", "1")], "initContainers": [container("i", "3")]}, {}, "3", "3"),
        ({"containers": [container("a", "1")],
          "initContainers": [container("s", "1", **SIDECAR), container("i", "3")]}, {}, "4", "4"),
        ({"containers": [container("a", "3")],
          "initContainers": [container("i", "3"), container("s", "1", **SIDECAR)]}, {}, "4", "4"),
        ({"containers": [container("a", "1")], "overhead": {"cpu": "100m"}}, {}, "1100m", "1100m"),
        ({"containers": [{"name": "a"}], "overhead": {"cpu": "100m"}}, {}, "100m", None),
        ({"containers": [container("a", "1")], "resources": {"requests": {"cpu": "5"}}}, {}, "5", "1"),
        ({"containers": [container("a", "1")]}, resized("2"), "2", "2"),
        ({"containers": [container("a", "3")]}, resized("2"), "3", "3"),
        ({"containers": [container("a", "1")]}, resized("2", "4"), "4", "2"),
        ({"containers": [container("a", "9")]}, resized("2", "1", "Infeasible"), "2", "2"),
        ({"containers": [container("a", "9")]}, resized("2", "1", "Deferred"), "9", "9"),
        ({"containers": [container("a", "9")]}, resized(None, "1", "Infeasible"), "1", None),
    ],
)  # fmt: skip
def test_what_a_pod_asks_for(spec: Object, status: Object, request_: str, limit: str | None) -> None:
    pod = {"spec": spec, "status": status}
    assert resource_totals.requests(pod).get("cpu") == request_
    assert resource_totals.limits(pod).get("cpu") == limit
