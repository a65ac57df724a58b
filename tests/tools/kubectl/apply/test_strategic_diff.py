"""Patches computed from objects."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.schema import kind_type
from pybernetes.tools.kubectl.apply.strategic_diff import conflicts, three_way, two_way

POD = kind_type("", "v1", "Pod")
DEPLOYMENT = kind_type("apps", "v1", "Deployment")


def spec(**fields: Any) -> dict[str, Any]:
    return {"spec": fields}


@pytest.mark.parametrize(
    ("original", "modified", "current", "expected"),
    [
        (spec(strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}), spec(strategy={"type": "Recreate"}),
         spec(strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}),
         spec(strategy={"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None})),
        (None, spec(strategy={"type": "Recreate"}), spec(strategy={"type": "Recreate", "rollingUpdate": {}}),
         spec(strategy={"$retainKeys": ["type"]})),
        (spec(replicas=1), spec(), spec(replicas=3), spec(replicas=None)),
        (spec(replicas=1), spec(), spec(), spec(replicas=None)),
        (spec(replicas=1), spec(replicas=1), spec(replicas=1, paused=True), {}),
    ],
)  # fmt: skip
def test_three_way_of_fields(original: Any, modified: Any, current: Any, expected: Any) -> None:
    assert three_way(original, modified, current, DEPLOYMENT) == expected


def test_three_way_of_a_list_with_keys() -> None:
    before = spec(containers=[{"name": "a", "image": "1", "tty": True}, {"name": "gone", "image": "1"}])
    after = spec(containers=[{"name": "new", "image": "1"}, {"name": "a", "image": "2"}])
    assert three_way(before, after, before, POD) == spec(**{
        "$setElementOrder/containers": [{"name": "new"}, {"name": "a"}],
        "containers": [{"name": "new", "image": "1"}, {"name": "a", "image": "2", "tty": None}, {"name": "gone", "$patch": "delete"}],
    })  # fmt: skip


def test_a_list_of_plain_values() -> None:
    before, after = {"metadata": {"finalizers": ["a", "b"]}}, {"metadata": {"finalizers": ["b", "c"]}}
    expected = {
        "finalizers": ["c"], "$deleteFromPrimitiveList/finalizers": ["a"], "$setElementOrder/finalizers": ["b", "c"],
    }  # fmt: skip
    assert two_way(before, after, POD) == {"metadata": expected}


def test_ports_with_the_same_key_are_paired_in_order() -> None:
    udp, tcp = ({"containerPort": 53, "protocol": protocol} for protocol in ("UDP", "TCP"))
    before = spec(containers=[{"name": "a", "ports": [udp, tcp]}])
    assert two_way(before, before, POD) == {}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (spec(replicas=2), spec(replicas=3), True),
        (spec(replicas=2), spec(replicas=2), False),
        (spec(replicas=2), spec(paused=True), False),
    ],
)
def test_conflicts(left: Any, right: Any, expected: bool) -> None:
    assert conflicts(left, right, DEPLOYMENT) is expected
