"""Why a node is as it is."""

from typing import Any

import pytest

from pybernetes.client.refs import (
    LEASES,
)
from pybernetes.tools.why.kinds import (
    node,
)
from tests.tools.why.worlds import causes, is_true, obj, world


@pytest.mark.parametrize(
    ("spec", "conditions", "state", "expected"),
    [
        ({}, [is_true("Ready")], "Ready", []),
        ({"unschedulable": True}, [is_true("Ready")], "Ready, cordoned", ["cordoned"]),
        ({}, [is_true("Ready", "False", message="no network")], "NotReady", ["says that it is not ready"]),
        ({}, [is_true("Ready", "Unknown")], "unknown", ["not heard from"]),
        ({}, [is_true("Ready"), is_true("DiskPressure")], "Ready", ["short of disk"]),
        (
            {"taints": [{"key": "only", "value": "gpu", "effect": "NoSchedule"}]},
            [is_true("Ready")],
            "Ready",
            [],
        ),
    ],
)
def test_nodes(spec: Any, conditions: Any, state: str, expected: list[str]) -> None:
    lease = {"metadata": {"namespace": "kube-node-lease", "name": "n1"}, "spec": {"renewTime": "2026-01-01"}}
    found_state, findings = node.WHY.decide(obj("n1", spec=spec, status={"conditions": conditions}), world((LEASES, [lease])))  # fmt: skip
    titles = causes(findings)
    assert (found_state, len(titles)) == (state, len(expected)), titles
    for title, words in zip(titles, expected, strict=True):
        assert words in title
