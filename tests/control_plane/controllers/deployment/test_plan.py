"""The decisions of the Deployment controller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.control_plane.controllers.deployment import sets, status
from pybernetes.control_plane.controllers.deployment.plan import Plan
from pybernetes.control_plane.controllers.deployment.sets import DESIRED, HISTORY, MAXIMUM, REVISION
from tests.control_plane.controllers.builders import stamp, template
from tests.control_plane.controllers.deployment.deployments import REFERENCE, deployment, planned, replica_set


def sizes(result: Plan) -> dict[str, int]:
    """Return what is written about sizes, by name."""
    by_name = {updated["metadata"]["name"]: updated["spec"]["replicas"] for updated in result.update}
    if result.create:
        by_name["new"] = result.create["spec"]["replicas"]
    return by_name


def test_the_first_set() -> None:
    result = planned(deployment(3, 1, 0, annotations={"note": "a", REVISION: "7"}))
    created = result.create
    assert created is not None
    name = created["metadata"]["name"]
    hash_ = name.removeprefix("web-")
    assert created["spec"]["replicas"] == 3
    assert created["metadata"]["ownerReferences"] == [REFERENCE]
    assert created["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": hash_}
    assert created["spec"]["template"]["metadata"]["labels"] == {"app": "web", "pod-template-hash": hash_}
    assert created["metadata"]["annotations"] == {"note": "a", REVISION: "1", DESIRED: "3", MAXIMUM: "4"}
    assert result.annotations == {"note": "a", REVISION: "1"}
    assert ("Normal", "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 3") in result.events
    assert [(condition["type"], condition["reason"]) for condition in result.status["conditions"]] == [  # type: ignore[index]
        ("Progressing", "NewReplicaSetCreated"),
        ("Available", "MinimumReplicasUnavailable"),
    ]


def test_a_step_makes_room_first_and_then_takes_away() -> None:
    old = replica_set("old", 10, desired=10, maximum=12)
    first = planned(deployment(10, 2, 0), old)
    assert sizes(first) == {"new": 2}
    new = replica_set("new", 2, 0, "nginx:1", ago=1, desired=10, maximum=12)
    assert sizes(planned(deployment(10, 2, 0), old, new)) == {
        "new": 2
    }  # annotations only: nothing may go yet
    new = replica_set("new", 2, 2, "nginx:1", ago=1, desired=10, maximum=12, revision=1)
    assert sizes(planned(deployment(10, 2, 0), old, new)) == {"old": 8}


def test_recreate_waits_for_the_last_old_pod() -> None:
    given = deployment(3, strategy="Recreate")
    old = replica_set("old", 3, desired=3, maximum=3)
    assert sizes(planned(given, old)) == {"old": 0}
    gone = {**replica_set("old", 0), "status": {"replicas": 0}}
    assert planned(given, gone, pods=True).create is None
    assert sizes(planned(given, gone)) == {"new": 3}


def test_a_paused_deployment_is_scaled_but_not_rolled_out() -> None:
    old = replica_set("old", 3, desired=3, maximum=3)
    result = planned(deployment(5, 1, 0, paused=True), old)
    assert sizes(result) == {"old": 5}
    conditions = {condition["type"]: condition for condition in result.status["conditions"]}  # type: ignore[index]
    assert conditions["Progressing"]["reason"] == "DeploymentPaused"
    assert conditions["Progressing"]["status"] == "Unknown"


def test_resuming_says_so() -> None:
    paused = {
        "type": "Progressing",
        "status": "Unknown",
        "reason": "DeploymentPaused",
        "lastUpdateTime": stamp(999),
    }
    new = replica_set("new", 3, 1, "nginx:1", desired=3, maximum=4, revision=1)
    given = deployment(3, 1, 0, status={"conditions": [paused], "replicas": 3, "updatedReplicas": 3, "readyReplicas": 1,
                                        "availableReplicas": 1}, annotations={REVISION: "1"})  # fmt: skip
    result = planned(given, new)
    reasons = {condition["type"]: condition["reason"] for condition in result.status["conditions"]}  # type: ignore[index]
    assert reasons["Progressing"] == "DeploymentResumed"
    assert result.again == 601


def test_nothing_to_do_writes_nothing() -> None:
    new = replica_set("new", 3, 3, "nginx:1", desired=3, maximum=4, revision=2)
    given = deployment(3, 1, 0, annotations={REVISION: "2"})
    given["status"] = planned(given, new).status
    again = planned(given, new)
    assert (again.create, again.update, again.delete, again.annotations) == (None, [], [], None)
    assert again.status == given["status"]
    assert again.again is None


def test_rolling_back_keeps_history() -> None:
    one = replica_set("one", 0, 0, "nginx:1", ago=900, revision=1, desired=3, maximum=4)
    two = replica_set("two", 3, 3, "nginx:2", ago=500, revision=2, desired=3, maximum=4)
    result = planned(deployment(3, 1, 0, annotations={REVISION: "2"}), one, two)
    (changed,) = [updated for updated in result.update if updated["metadata"]["name"] == "one"]
    assert changed["metadata"]["annotations"][REVISION] == "3"
    assert changed["metadata"]["annotations"][HISTORY] == "1"
    assert result.annotations == {REVISION: "3"}


def test_long_histories_lose_their_beginning() -> None:
    long = ",".join(["100000"] * 285)
    annotations: Any = {HISTORY: long}
    one = replica_set("one", 0, 0, "nginx:1", ago=900, revision=7, **annotations)
    two = replica_set("two", 3, 3, "nginx:2", ago=500, revision=9)
    result = planned(deployment(3, 1, 0), one, two)
    (changed,) = [updated for updated in result.update if updated["metadata"]["name"] == "one"]
    history = changed["metadata"]["annotations"][HISTORY]
    assert len(history) <= 2000 and history.endswith(",7")


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, ["a", "b", "c"]), (1, ["a", "b"]), (3, []), (2**31 - 1, [])]
)
def test_cleaning_up(limit: int, expected: list[str]) -> None:
    done = {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "observedGeneration": 1}
    given = deployment(1, 1, 0, revisionHistoryLimit=limit, status=done)
    old = [replica_set(name, 0, 0, f"old:{n}", revision=n + 1) for n, name in enumerate("abc")]
    busy = replica_set("busy", 0, 0, "old:9", revision=0)
    busy["status"]["replicas"] = 1
    new = replica_set("new", 1, 1, "nginx:1", revision=9, desired=1, maximum=2)
    result = planned(given, *old, new)
    assert [deleted["metadata"]["name"] for deleted in result.delete] == expected


@pytest.mark.parametrize(
    ("to", "image", "reason"),
    [
        ("1", "nginx:0", "DeploymentRollback"),
        ("0", "nginx:0", "DeploymentRollback"),
        ("2", "nginx:1", "DeploymentRollbackTemplateUnchanged"),
        ("9", "nginx:1", "DeploymentRollbackRevisionNotFound"),
    ],
)
def test_the_annotation_of_old_clients(to: str, image: str, reason: str) -> None:
    one = replica_set("one", 0, 0, "nginx:0", ago=900, revision=1, cause="first")
    two = replica_set("two", 3, 3, "nginx:1", ago=500, revision=2, cause="second")
    given = deployment(3, 1, 0, annotations={sets.ROLLBACK_TO: to, REVISION: "2", "cause": "second"})
    result = planned(given, one, two)
    assert result.replace is not None and result.status is None
    assert result.replace["spec"]["template"] == template(image)
    assert sets.ROLLBACK_TO not in result.replace["metadata"]["annotations"]
    assert result.replace["metadata"]["annotations"]["cause"] == ("first" if image == "nginx:0" else "second")
    assert result.events[-1][1] == reason


def test_selecting_everything_does_nothing() -> None:
    given = deployment(3)
    given["spec"]["selector"] = {}
    result = planned(given)
    assert result.create is None and result.events[0][1] == "SelectingAll"


@settings(max_examples=60)
@given(
    replicas=st.integers(0, 12), surge=st.integers(0, 4), unavailable=st.integers(0, 4), old=st.integers(0, 12),
    luck=st.lists(st.booleans(), min_size=30, max_size=30),
)  # fmt: skip
def test_a_rollout_keeps_its_promises_and_ends(
    replicas: int, surge: int, unavailable: int, old: int, luck: list[bool]
) -> None:
    """Pods become available at any time: there are never too many, never too few, and in the end all are new."""
    surge, unavailable = (surge, unavailable) if surge or unavailable else (0, 1)
    given = deployment(replicas, surge, unavailable)
    old = min(old, replicas)
    world = {"old": replica_set("old", old, desired=replicas, maximum=replicas + surge)}
    floor = min(old, max(0, replicas - unavailable))
    for lucky in [*luck, *[True] * 60]:
        result = planned(given, *world.values())
        if result.create:
            result.create["metadata"] |= {"uid": "new", "creationTimestamp": stamp()}
            world["new"] = {**result.create, "status": {}}
        for updated in result.update:
            world[
                updated["metadata"]["name"]
                if "status" in updated and updated["metadata"]["name"] == "old"
                else "new"
            ] = updated
        for obj in world.values():
            size, seen = obj["spec"]["replicas"], obj["status"].get("availableReplicas", 0)
            grown = min(size, seen + 1) if lucky else min(size, seen)
            obj["status"] = {
                "replicas": size, "readyReplicas": grown, "availableReplicas": grown, "observedGeneration": 1,
                "terminatingReplicas": 0,
            }  # fmt: skip
        total = sum(obj["spec"]["replicas"] for obj in world.values())
        available = sum(obj["status"]["availableReplicas"] for obj in world.values())
        assert total <= max(replicas + surge, old)
        assert available >= floor
        given["status"] = result.status or {}
        given["metadata"]["annotations"] = result.annotations or given["metadata"].get("annotations", {})
    assert world["new"]["spec"]["replicas"] == replicas
    assert world["old"]["spec"]["replicas"] == 0
    assert status.is_complete(given, planned(given, *world.values()).status or {})
