"""What the status of a Deployment says."""

from __future__ import annotations

import pytest

from tests.control_plane.controllers.builders import stamp
from tests.control_plane.controllers.deployment.deployments import deployment, planned, replica_set


@pytest.mark.parametrize(
    ("known", "seen", "reason", "state"),
    [
        (("ReplicaSetUpdated", 100), (3, 3), "NewReplicaSetAvailable", "True"),
        (("ReplicaSetUpdated", 100), (3, 2), "ReplicaSetUpdated", "True"),
        (("ReplicaSetUpdated", 700), (3, 1), "ProgressDeadlineExceeded", "False"),
        (("ProgressDeadlineExceeded", 900), (3, 1), "ProgressDeadlineExceeded", "False"),
        (("NewReplicaSetAvailable", 900), (3, 1), "NewReplicaSetAvailable", "True"),
    ],
)
def test_progress(known: tuple[str, float], seen: tuple[int, int], reason: str, state: str) -> None:
    before = {"type": "Progressing", "status": "True", "reason": known[0], "lastUpdateTime": stamp(known[1])}
    if known[0] == "ProgressDeadlineExceeded":
        before["status"] = "False"
    given = deployment(3, 1, 0, status={
        "conditions": [before], "replicas": 3, "updatedReplicas": 3, "readyReplicas": 1, "availableReplicas": 1,
    })  # fmt: skip
    result = planned(given, replica_set("new", *seen, "nginx:1", desired=3, maximum=4))
    condition = next(known for known in result.status["conditions"] if known["type"] == "Progressing")  # type: ignore[index]
    assert (condition["reason"], condition["status"]) == (reason, state)


def test_without_a_deadline_there_is_no_word_on_progress() -> None:
    given = deployment(3, 1, 0, progressDeadlineSeconds=2**31 - 1)
    result = planned(given, replica_set("new", 3, 3, "nginx:1", desired=3, maximum=4))
    assert [condition["type"] for condition in result.status["conditions"]] == ["Available"]  # type: ignore[index]
    assert result.again is None


def test_a_failure_of_a_set_is_shown() -> None:
    failed = replica_set("new", 3, 0, "nginx:1", desired=3, maximum=4)
    failed["status"]["conditions"] = [
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "m"}
    ]
    result = planned(deployment(3, 1, 0), failed)
    assert result.status is not None
    assert ("ReplicaFailure", "FailedCreate") in [
        (condition["type"], condition["reason"]) for condition in result.status["conditions"]
    ]
