"""What ReplicaSets and ReplicationControllers write about their pods."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.replicas import Tally, status_of, tally
from tests.control_plane.controllers.builders import NOW, meta, pod, stamp, template

OLD = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no"}


def replica_set(**status: object) -> Object:
    return {"metadata": meta("rs"), "spec": {"replicas": 3, "template": template()}, "status": status}


@pytest.mark.parametrize(
    ("pods", "min_ready_seconds", "expected"),
    [
        ([], 0, Tally(0, 0, 0, 0)),
        ([pod("a"), pod("b", ready=True)], 0, Tally(2, 2, 1, 1)),
        ([pod("a", ready=5), pod("b", ready=20)], 10, Tally(2, 2, 2, 1)),
        ([pod("a", ready=10)], 10, Tally(1, 1, 1, 1)),
        ([pod("a", labels={"other": "x"}, ready=True)], 0, Tally(1, 0, 1, 1)),
    ],
)
def test_tally(pods: list[Object], min_ready_seconds: int, expected: Tally) -> None:
    assert tally(pods, template(), min_ready_seconds, NOW) == expected


def test_status_leaves_out_zeros() -> None:
    status = status_of(replica_set(), Tally(0, 0, 0, 0), 0, None, NOW)
    assert status == {"replicas": 0, "observedGeneration": 1, "terminatingReplicas": 0}


def test_status_of_a_replication_controller_has_no_terminating_pods() -> None:
    status = status_of(replica_set(), Tally(2, 2, 1, 1), None, None, NOW)
    assert status == {
        "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 1, "availableReplicas": 1, "observedGeneration": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("known", "replicas", "error", "expected"),
    [
        ([], 1, "no room", [("FailedCreate", "no room")]),
        ([], 5, "no way", [("FailedDelete", "no way")]),
        ([OLD], 1, "another", [("FailedCreate", "no")]),  # the first failure stays until one attempt succeeds
        ([OLD], 3, None, []),
        ([], 3, None, []),
    ],
)
def test_failures_become_a_condition(
    known: list[Object], replicas: int, error: str | None, expected: list[tuple[str, str]]
) -> None:
    status = status_of(replica_set(conditions=known), Tally(replicas, 0, 0, 0), 0, error, NOW)
    assert [
        (condition["reason"], condition["message"]) for condition in status.get("conditions", [])
    ] == expected
    if error and not known:
        assert status["conditions"][0]["lastTransitionTime"] == stamp()
