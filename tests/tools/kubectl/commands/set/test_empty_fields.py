"""Fields that are printed of workloads though nobody has set them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.commands.set._empty_fields import with_empty_fields

_CONTAINERS = {"containers": [{"name": "a"}]}
_FILLED = {"containers": [{"name": "a", "resources": {}}]}


@pytest.mark.parametrize(
    ("kind", "spec", "wanted", "status"),
    [
        ("Deployment", {"template": {"spec": _CONTAINERS}}, {"strategy": {}, "template": {"spec": _FILLED}}, {}),
        ("Deployment", {"strategy": {"type": "Recreate"}}, {"strategy": {"type": "Recreate"}, "template": {"spec": {}}}, {}),
        ("StatefulSet", {}, {"updateStrategy": {}, "template": {"spec": {}}}, {"replicas": 0, "availableReplicas": 0}),
        ("CronJob", {"jobTemplate": {"spec": {"template": {"spec": _CONTAINERS}}}}, {"jobTemplate": {"metadata": {}, "spec": {"template": {"spec": _FILLED}}}}, {}),
        ("Service", {"ports": [{"port": 80}]}, {"ports": [{"port": 80, "targetPort": 0}]}, {"loadBalancer": {}}),
        ("Pod", _CONTAINERS, _FILLED, {}),
    ],
)  # fmt: skip
def test_workloads(kind: str, spec: Any, wanted: Any, status: Any) -> None:
    assert with_empty_fields({"kind": kind, "spec": spec}) == {"kind": kind, "spec": wanted, "status": status}


def test_others_stay_as_they_are() -> None:
    assert with_empty_fields({"kind": "ConfigMap"}) == {"kind": "ConfigMap"}
