"""The decisions of the StatefulSet controller."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.statefulset import identity
from pybernetes.control_plane.controllers.statefulset.plan import Plan, PlanInputs, plan
from tests.control_plane.controllers.builders import NOW, meta, stamp
from tests.control_plane.controllers.statefulset.stateful_sets import (
    CLAIM,
    NEW,
    OLD,
    REFERENCE,
    STALE,
    member,
    revision,
    stateful_set,
)


def planned(given: Object, *pods: Object, claims: dict[str, Object] | None = None) -> Plan:
    return plan(
        PlanInputs(given, REFERENCE, list(pods), revision(OLD, "nginx:0"), revision(NEW, "nginx:1"), 0,
             (claims or {}).get, NOW)
    )  # fmt: skip


def steps(result: Plan) -> list[str]:
    return [f"{step.verb} {step.pod['metadata']['name']}" for step in result.steps]


CASES: list[tuple[str, Object, list[Object], list[str]]] = [
    ("the first", stateful_set(), [], ["create db-0"]),
    ("the next when the first is ready", stateful_set(), [member(0)], ["create db-1"]),
    ("not before it is", stateful_set(), [member(0, ready=False)], []),
    ("nor before it is available", stateful_set(minReadySeconds=60), [member(0, ready=50)], []),
    ("all at once", stateful_set(podManagementPolicy="Parallel"), [], ["create db-0", "create db-1", "create db-2"]),
    ("a hole is filled first", stateful_set(), [member(0), member(2)], ["create db-1"]),
    ("from another number on", stateful_set(2, ordinals={"start": 5}), [], ["create db-5"]),
    ("below the first number", stateful_set(1, ordinals={"start": 1}), [member(0), member(1)], ["delete db-0"]),
    ("one that has ended goes", stateful_set(), [member(0, phase="Failed", ready=False)], ["delete db-0"]),
    ("one that is on its way out is waited for", stateful_set(), [member(0, deleted=True)], []),
    ("pending ones get their claims", stateful_set(), [member(0, phase="Pending", ready=False)], ["claims db-0"]),
    ("the last goes first", stateful_set(1), [member(n) for n in range(3)], ["delete db-2"]),
    ("one at a time", stateful_set(1), [member(0), member(1), member(2, deleted=True)], []),
    ("not while another is sick", stateful_set(1), [member(0, ready=False), member(1), member(2)], []),
    ("a sick one goes", stateful_set(1), [member(0), member(1), member(2, ready=False)], ["delete db-2"]),
    ("behind a sick one", stateful_set(1), [member(0), member(1, ready=False), member(2)], ["delete db-2"]),
    ("two sick ones", stateful_set(1), [member(0), member(1, ready=False), member(2, ready=False)], []),
    ("all at once, too", stateful_set(1, podManagementPolicy="Parallel"), [member(n) for n in range(3)],
     ["delete db-2", "delete db-1"]),
    ("a label is put back", stateful_set(1), [{**member(0), "metadata": {**member(0)["metadata"], "labels": {}}}],
     ["update db-0", "delete db-0"]),
    ("an update from the end", stateful_set(), [member(n, OLD) for n in range(3)], ["delete db-2"]),
    ("an update goes on", stateful_set(), [member(0, OLD), member(1, OLD), member(2)], ["delete db-1"]),
    ("when the last is ready", stateful_set(), [member(0, OLD), member(1, OLD), member(2, ready=False)], []),
    ("down to the partition", stateful_set(strategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}),
     [member(0, OLD), member(1, OLD), member(2)], []),
    ("several at once", stateful_set(strategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}),
     [member(n, OLD) for n in range(3)], ["delete db-2", "delete db-1"]),
    ("a share of them", stateful_set(4, strategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}}),
     [member(n, OLD) for n in range(4)], ["delete db-3", "delete db-2"]),
    ("sick ones for free", stateful_set(podManagementPolicy="Parallel"),
     [member(0, OLD, ready=False), member(1, OLD), member(2, OLD, ready=False)], ["delete db-2", "delete db-0"]),
    ("never on its own", stateful_set(strategy={"type": "OnDelete"}), [member(n, OLD) for n in range(3)], []),
    ("nothing while it goes itself", {**stateful_set(), "metadata": meta("db", deletionTimestamp=stamp())}, [], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "pods", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_steps(given: Object, pods: list[Object], expected: list[str]) -> None:
    assert steps(planned(given, *pods)) == expected


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_set_of_as_many_pods_as_can_be_asked_for(policy: str) -> None:
    """Two thousand million places took all memory of the control plane: no more than what is done next is thought of."""
    given = stateful_set(2**31 - 1, podManagementPolicy=policy, ordinals={"start": 5})
    result = planned(
        given, member(5, OLD), member(7, OLD), member(0), member(8, phase="Pending", ready=False)
    )
    if policy == "OrderedReady":
        assert steps(result) == ["create db-6"]
        return
    made = [name for name in steps(result) if name.startswith("create")]
    assert made[:2] == ["create db-6", "create db-9"] and len(made) == 500
    rest = [name for name in steps(result) if not name.startswith("create")]
    assert rest == ["claims db-8", "delete db-0"]
    given["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": f"v{number}"}} for number in range(249)]
    assert sum(step.startswith("create") for step in steps(planned(given))) == 2


@pytest.mark.parametrize(
    ("number", "strategy", "current", "expected"),
    [
        (0, {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, 0, OLD),
        (2, {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, 0, NEW),
        (0, {"type": "RollingUpdate"}, 1, OLD),
        (1, {"type": "RollingUpdate"}, 1, NEW),
        (0, {"type": "OnDelete"}, 1, NEW),
    ],
)
def test_which_template_a_new_pod_has(number: int, strategy: Object, current: int, expected: str) -> None:
    given = stateful_set(3, strategy=strategy)
    given["status"] = {"currentReplicas": current}
    (step,) = planned(given, *(member(n) for n in range(number))).steps
    assert identity.revision_of(step.pod) == expected
    assert step.pod["spec"]["containers"][0]["image"] == ("nginx:0" if expected == OLD else "nginx:1")


def test_a_pod_waits_for_the_claim_of_its_predecessor_to_go() -> None:
    policy = {"whenDeleted": "Retain", "whenScaled": "Delete"}
    given = stateful_set(1, persistentVolumeClaimRetentionPolicy=policy, volumeClaimTemplates=[CLAIM])
    claims = {"data-db-0": {"metadata": {"name": "data-db-0", "ownerReferences": [STALE]}}}
    assert steps(planned(given, claims=claims)) == []
    assert steps(planned(given)) == ["create db-0"]


def test_status() -> None:
    given = stateful_set(3)
    pods = [member(0, OLD), member(1, OLD, ready=False), member(2)]
    status = planned(given, *pods).status
    assert status == {
        "observedGeneration": 1, "replicas": 3, "readyReplicas": 2, "currentReplicas": 2, "updatedReplicas": 1,
        "currentRevision": OLD, "updateRevision": NEW, "collisionCount": 0, "availableReplicas": 2,
    }  # fmt: skip
    done = planned(given, *(member(n) for n in range(3))).status
    assert (done["currentRevision"], done["currentReplicas"]) == (NEW, 3)
    empty = planned(stateful_set(0)).status
    assert (empty["replicas"], empty["availableReplicas"], empty["currentRevision"]) == (0, 0, NEW)


@settings(max_examples=60)
@given(
    replicas=st.integers(0, 5), start=st.integers(0, 3), parallel=st.booleans(), partition=st.integers(0, 6),
    unavailable=st.integers(1, 3), before=st.integers(0, 5), luck=st.lists(st.booleans(), min_size=40, max_size=40),
)  # fmt: skip
def test_it_comes_to_rest(
    replicas: int, start: int, parallel: bool, partition: int, unavailable: int, before: int, luck: list[bool]
) -> None:
    """Whatever was there, in the end there is one pod per place, new from the partition on."""
    given = stateful_set(
        replicas, ordinals={"start": start}, podManagementPolicy="Parallel" if parallel else "OrderedReady",
        strategy={"type": "RollingUpdate", "rollingUpdate": {"partition": partition, "maxUnavailable": unavailable}},
    )  # fmt: skip
    world = {f"db-{n}": member(n, OLD) for n in range(before)}
    for lucky in [*luck, *[True] * 80]:
        result = planned(given, *world.values())
        for verb, one in result.steps:
            name = one["metadata"]["name"]
            if verb == "create":
                assert name not in world
                world[name] = member(int(name[3:]), identity.revision_of(one), ready=False)
            elif verb == "delete":
                del world[name]
        sick = [name for name, one in world.items() if "conditions" not in one["status"]]
        if lucky and sick:
            world[sick[0]] = member(int(sick[0][3:]), identity.revision_of(world[sick[0]]))
        given["status"] = result.status
    assert sorted(world) == sorted(f"db-{n}" for n in range(start, start + replicas))
    for number, place in enumerate(range(start, start + replicas)):
        if number >= partition:
            assert identity.revision_of(world[f"db-{place}"]) == NEW
