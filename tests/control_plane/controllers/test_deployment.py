"""The decisions of the Deployment controller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.deployment import rolling, sets, status
from pybernetes.control_plane.controllers.deployment.plan import Plan, plan
from pybernetes.control_plane.controllers.deployment.sets import DESIRED, HISTORY, MAXIMUM, REVISION, Set
from tests.control_plane.controllers.builders import NOW, meta, stamp, template

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
        "metadata": meta("web", **({"annotations": annotations} if annotations else {})),
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


def sizes(result: Plan) -> dict[str, int]:
    """What is written about sizes, by name."""
    by_name = {updated["metadata"]["name"]: updated["spec"]["replicas"] for updated in result.update}
    if result.create:
        by_name["new"] = result.create["spec"]["replicas"]
    return by_name


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        (10, "25%", "25%", (3, 2)),
        (2, 0, "1%", (0, 1)),
        (1, "1%", "25%", (1, 0)),
        (10, 0, 0, (0, 1)),
        (10, 3, 2, (3, 2)),
    ],
)
def test_fenceposts(replicas: int, surge: Any, unavailable: Any, expected: tuple[int, int]) -> None:
    assert sets.fenceposts(deployment(replicas, surge, unavailable)) == expected


@pytest.mark.parametrize(
    ("replicas", "surge", "new", "old", "expected"),
    [
        (10, 0, 0, 10, 0),  # no room
        (10, 2, 0, 10, 2),
        (10, 2, 0, 5, 7),
        (10, 2, 9, 3, 9),
        (10, 20, 0, 0, 10),  # never more than asked for
        (3, 0, 5, 0, 3),  # fewer are asked for by now
    ],
)
def test_size_of_new(replicas: int, surge: int, new: int, old: int, expected: int) -> None:
    one, other = Set(replica_set("new", new)), Set(replica_set("old", old))
    assert rolling.size_of_new(deployment(replicas, surge, 1), one, [one, other]) == expected


@pytest.mark.parametrize(
    ("replicas", "unavailable", "old", "new", "expected"),
    [
        # old: size and available; new: the same
        (10, 0, (10, 10), (0, 0), 10),
        (10, 2, (10, 10), (0, 0), 8),
        (10, 2, (10, 8), (0, 0), 8),  # those that are not available go first
        (10, 2, (10, 10), (2, 0), 8),
        (10, 2, (8, 8), (5, 0), 8),  # new pods that never become available save the old ones
        (10, 2, (8, 8), (4, 2), 6),
        (10, 0, (10, 10), (4, 4), 6),
        (10, 3, (0, 0), (10, 10), 0),
    ],
)
def test_shrink_old(
    replicas: int, unavailable: int, old: tuple[int, int], new: tuple[int, int], expected: int
) -> None:
    one, other = Set(replica_set("new", *new)), Set(replica_set("old", *old))
    rolling.shrink_old(deployment(replicas, 5, unavailable), one, [other])
    assert other.replicas == expected


@pytest.mark.parametrize(
    ("replicas", "surge", "before", "expected"),
    [
        # before: the size of each set from the newest to the oldest, and the maximum noted on them
        (12, 0, ([10], 10), [12]),
        (5, 0, ([10], 10), [5]),
        (20, 0, ([5, 5], 10), [10, 10]),
        (5, 0, ([5, 5], 10), [3, 2]),
        (0, 0, ([5, 5], 10), [0, 0]),
        (0, 3, ([3, 7], 10), [0, 0]),
        (20, 0, ([2, 3, 5], 10), [4, 6, 10]),
        (15, 0, ([2, 3, 5], 10), [2, 5, 8]),  # rounded up for the largest first
        (8, 2, ([5, 8], 13), [4, 6]),
        (3, 0, ([0, 0, 0], 10), [3, 0, 0]),
        (10, 5, ([5, 3, 2], 10), [8, 5, 2]),
    ],
)
def test_scaling_is_proportional(
    replicas: int, surge: int, before: tuple[list[int], int], expected: list[int]
) -> None:
    given = [
        Set(replica_set(f"rs{number}", size, 0, ago=number * 100, desired=10, maximum=before[1]))
        for number, size in enumerate(before[0])
    ]
    new, *old = given
    rolling.scale(deployment(replicas, surge, 1), new, sorted(old, key=lambda name: name.age))
    assert [size.replicas for size in given] == expected


def test_scaling_with_a_saturated_new_set_ends_the_old_ones() -> None:
    new = Set(replica_set("new", 10, 10, desired=10, maximum=10))
    old = Set(replica_set("old", 3, 3))
    rolling.scale(deployment(10), new, [old])
    assert (new.replicas, old.replicas) == (10, 0)


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


def test_the_hash_is_the_templates_and_changes_with_collisions() -> None:
    names = set()
    for collisions in (None, 1, 2):
        given = deployment(status={"collisionCount": collisions} if collisions else {})
        created = planned(given).create
        assert created == planned(given).create
        names.add(created["metadata"]["name"])  # type: ignore[index]
    assert len(names) == 3


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
    assert ("ReplicaFailure", "FailedCreate") in [
        (condition["type"], condition["reason"]) for condition in result.status["conditions"]
    ]  # type: ignore[index]


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
    one = replica_set("one", 0, 0, "nginx:1", ago=900, revision=7, **{HISTORY: long})
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
