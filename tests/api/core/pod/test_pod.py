"""Pod: its grace period and its field selectors."""

from __future__ import annotations

import pytest

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.resource import Object
from tests.api.core.pod.pods import make


@pytest.mark.parametrize(
    ("spec", "phase", "asked", "expected"),
    [
        ({"nodeName": "n"}, "Running", None, 30),
        ({"nodeName": "n"}, "Running", 5, 5),
        ({"nodeName": "n"}, "Running", -5, 1),
        ({"nodeName": "n"}, "Succeeded", 5, 0),
        ({}, "Pending", 5, 0),
    ],
)
def test_grace_period(spec: Object, phase: str, asked: int | None, expected: int) -> None:
    pod = make(**spec)
    pod["status"]["phase"] = phase
    assert RESOURCE.grace_period
    assert RESOURCE.grace_period(pod, asked) == expected


def test_field_selectors() -> None:
    pod = make(nodeName="n", serviceAccountName="s")
    pod["status"] |= {"podIPs": [{"ip": "10.0.0.1"}]}
    assert {name: read(pod) for name, read in RESOURCE.selectable.items()} == {
        "spec.nodeName": "n",
        "spec.restartPolicy": "Always",
        "spec.schedulerName": "default-scheduler",
        "spec.serviceAccountName": "s",
        "spec.hostNetwork": "false",
        "status.phase": "Pending",
        "status.podIP": "10.0.0.1",
        "status.nominatedNodeName": "",
    }
