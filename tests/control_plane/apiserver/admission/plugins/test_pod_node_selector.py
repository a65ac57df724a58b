"""PodNodeSelector: what it sets, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.admission.plugins.pods import (
    FORBIDDEN,
    namespace,
    refusal,
    spec_after,
)
from tests.control_plane.apiserver.admission.world import Object, pod

SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"


SELECTORS = {
    "podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "zone=a", "one": "zone=a,disk=ssd"}
}


@pytest.mark.parametrize(
    ("annotations", "given", "expected"),
    [
        ({}, {}, {"zone": "a"}),
        ({}, {"disk": "ssd"}, {"zone": "a", "disk": "ssd"}),
        ({SELECTOR: "disk=ssd"}, {}, {"disk": "ssd"}),
        ({SELECTOR: "disk = ssd , zone=a"}, {}, {"disk": "ssd", "zone": "a"}),
    ],
)
def test_pod_node_selector(annotations: Any, given: Object, expected: Object) -> None:
    objects = ("", "namespaces", namespace(annotations=annotations))
    spec = spec_after("PodNodeSelector", pod(nodeSelector=given), objects, PodNodeSelector=SELECTORS)
    assert spec["nodeSelector"] == expected


@pytest.mark.parametrize(
    ("annotations", "given", "message"),
    [
        (
            {},
            {"zone": "b"},
            FORBIDDEN + "pod node label selector conflicts with its namespace node label selector",
        ),
        ({}, {"x": "y"}, FORBIDDEN + "pod node label selector labels conflict with its namespace whitelist"),
        ({SELECTOR: "zone"}, {}, "invalid selector: [zone]"),
        ({SELECTOR: "a b=c"}, {}, "invalid selector: [a b c]: name part must consist of"),
    ],
)
def test_pod_node_selector_refuses(annotations: Any, given: Object, message: str) -> None:
    objects = ("", "namespaces", namespace(annotations=annotations))
    problem = refusal("PodNodeSelector", pod(nodeSelector=given), objects, configuration=SELECTORS)
    assert problem.startswith(message)
