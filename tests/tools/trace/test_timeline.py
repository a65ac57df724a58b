"""A pod's creation, put together from what is told."""

from typing import Any

import pytest

from pybernetes.api import steps
from pybernetes.api.steps import Step
from pybernetes.tools.trace.timeline import trace

AT = 1_700_000_000.0  # 2023-11-14T22:13:20Z
SECOND = "2023-11-14T22:13:20Z"


def pod(phase: str = "Running", **more: Any) -> dict[str, Any]:
    meta = {"namespace": "shop", "name": "web", "uid": "u1", "creationTimestamp": SECOND}
    return {"metadata": meta, "spec": {"nodeName": "n1"}, "status": {"phase": phase, **more}}


def event(reason: str, told: list[Step] | str = (), at: float = AT, uid: str = "u1") -> dict[str, Any]:  # type: ignore[assignment]
    meta: dict[str, Any] = {"name": f"web.{int(at * 1e9):x}", "namespace": "shop"}
    if told:
        meta["annotations"] = {steps.ANNOTATION: told if isinstance(told, str) else steps.to_text(told)}
    about = {"kind": "Pod", "name": "web", "uid": uid, "fieldPath": "spec.containers{main}"}
    return {"metadata": meta, "involvedObject": about, "reason": reason, "firstTimestamp": SECOND}


def write(subresource: str, phase: str, begin: float) -> dict[str, Any]:
    moments = {
        "received": begin,
        "admission": begin + 0.001,
        "write": begin + 0.003,
        "written": begin + 0.004,
    }
    return {"subresource": subresource, "phase": phase, **moments}


WRITES = [
    write("", "Pending", AT),
    write("binding", "Pending", AT + 0.010),
    write("status", "Pending", AT + 0.020),
    write("status", "Running", AT + 0.100),
]
SCHEDULED = event(
    "Scheduled",
    [
        Step("queue", AT + 0.005, AT + 0.006),
        Step("filter", AT + 0.006, AT + 0.007, "2 of 3 nodes"),
        Step("score", AT + 0.007, AT + 0.0075),
        Step("bind", AT + 0.0075, AT + 0.016, "n1"),
    ],
)
PULLED = event(
    "Pulled",
    [
        Step("prepare", AT + 0.0150, AT + 0.02),
        Step("network", AT + 0.02, AT + 0.05),
        Step("sandbox", AT + 0.05, AT + 0.06),
    ],
)
STARTED = event(
    "Started", [Step("create", AT + 0.06, AT + 0.07, "main"), Step("start", AT + 0.07, AT + 0.09, "main")]
)


def test_every_step_of_our_own_components() -> None:
    told = trace(pod(), [STARTED, PULLED, SCHEDULED], WRITES)
    took = [(row.number, row.name, round(1000 * (row.seconds or 0), 2)) for row in told.steps]
    assert took == [
        (1, "request", 1.0), (2, "admission", 2.0), (2, "write", 1.0), (3, "watch", 1.0), (3, "queue", 1.0),
        (4, "filter", 1.0), (4, "score", 0.5), (5, "bind", 6.5), (6, "node watch", 1.0), (7, "prepare", 5.0),
        (7, "network", 30.0), (7, "sandbox", 10.0), (7, "create", 10.0), (8, "start", 20.0), (9, "status", 10.0),
        (10, "status write", 4.0),
    ]  # fmt: skip
    assert told.seconds == pytest.approx(0.104, abs=1e-5)
    assert told.accounted == pytest.approx(1.0)
    assert (told.precise, told.notes) == (True, [])
    assert [row.component for row in told.steps if row.name == "filter"] == ["kube-scheduler"]


def test_what_nobody_tells_is_not_accounted_for() -> None:
    late = event("Started", [Step("start", AT + 0.08, AT + 0.09, "main")])
    told = trace(pod(), [late, PULLED, SCHEDULED], WRITES)
    assert told.accounted == pytest.approx(1 - 0.02 / 0.104)


def test_a_cluster_of_others_tells_by_events_and_conditions() -> None:
    ran: dict[str, Any] = {
        "containerStatuses": [{"name": "main", "state": {"running": {"startedAt": "2023-11-14T22:13:22Z"}}}]
    }
    scheduled = {**event("Scheduled"), "eventTime": "2023-11-14T22:13:20.500000Z", "firstTimestamp": None}
    others = [
        scheduled,
        event("Pulling", at=AT + 0.9),
        event("Pulled", at=AT + 1.4),
        event("Created", at=AT + 1.5),
    ]
    others.append({**event("Started", at=AT + 1.6), "firstTimestamp": "2023-11-14T22:13:21Z"})
    told = trace(pod(**ran), others)
    assert [(row.name, round(row.seconds or 0, 3), row.precise, row.source) for row in told.steps] == [
        ("schedule", 0.5, False, "event Scheduled"),
        ("sandbox", 0.4, True, "event Pulling"),
        ("image", 0.5, True, "event Pulled"),
        ("create", 0.1, True, "event Created"),
        ("start", 0.1, True, "event Started"),
        ("status", 0.4, False, "container status"),
    ]
    assert told.precise is False
    assert "to the second" in told.notes[0]


def test_without_events_conditions_tell() -> None:
    def condition(type_: str, second: int) -> dict[str, str]:
        return {"type": type_, "status": "True", "lastTransitionTime": f"2023-11-14T22:13:{second}Z"}

    conditions = [condition("PodScheduled", 21), condition("PodReadyToStartContainers", 24)]
    told = trace(pod(conditions=conditions))
    assert [(row.name, row.seconds, row.source) for row in told.steps] == [
        ("schedule", 1.0, "condition PodScheduled"),
        ("sandbox", 3.0, "condition PodReadyToStartContainers"),
    ]


@pytest.mark.parametrize(
    ("phase", "node", "status", "name", "detail"),
    [
        ("Pending", "", {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]}, "queue", "0/1 nodes"),
        ("Pending", "n1", {"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]}, "status", "ErrImagePull"),
        ("Pending", "n1", {"containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}, "status", ""),
    ],
)  # fmt: skip
def test_what_is_under_way(phase: str, node: str, status: dict[str, Any], name: str, detail: str) -> None:
    made = pod(phase, **status)
    made["spec"]["nodeName"] = node
    events = [SCHEDULED, PULLED, STARTED] if node else []
    last = trace(made, events, WRITES[:1]).steps[-1]
    assert (last.name, last.end, last.detail) == (name, None, detail)


def test_a_pod_of_a_cluster_of_others_that_waits() -> None:
    made = pod("Pending", conditions=[{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}])
    made["spec"] = {}
    (row,) = trace(made).steps
    assert (row.name, row.begin, row.end, row.precise, row.detail) == ("queue", AT, None, False, "0/1 nodes")


def test_a_pod_that_nothing_is_known_of() -> None:
    made = pod("Pending")
    del made["metadata"]["creationTimestamp"]
    told = trace(made)
    assert (told.steps, told.begin, told.seconds, told.accounted) == ([], None, None, None)


def test_events_of_another_pod_and_of_another_time_are_not_believed() -> None:
    before = event("Started", [Step("start", AT - 1000, AT - 999)])
    other = event("Started", [Step("start", AT + 0.07, AT + 0.09)], uid="u0")
    strange = event("Started", [Step("\x1b[2J", AT + 0.07, AT + 0.09)])
    later = event("Started", [Step("start", AT + 1, AT + 1e9)])
    later["metadata"]["creationTimestamp"] = SECOND
    after_all = event("Started", [Step("start", AT + 100, AT + 101)])
    told = trace(pod(), [before, other, strange, later, after_all, event("Pulled", "[[")], WRITES).steps
    marks = [row.name for row in told if row.source == "mark"]
    assert marks == ["request", "admission", "write", "status", "status write"]


def test_clocks_that_differ_are_noticed() -> None:
    behind = event("Pulled", [Step("prepare", AT - 1.0, AT - 0.9)])
    told = trace(pod("Pending"), [SCHEDULED, behind], WRITES[:2])
    assert all((row.seconds or 0) >= 0 for row in told.steps)
    assert "clocks" in told.notes[0]


def test_json_has_numbers_and_seconds() -> None:
    shown = trace(pod(), [STARTED, PULLED, SCHEDULED], WRITES).as_json()
    assert shown["pod"] == {"namespace": "shop", "name": "web", "uid": "u1", "node": "n1"}
    first = shown["steps"][0]
    assert (first["number"], first["name"], first["source"]) == (1, "request", "mark")
    assert first["seconds"] == pytest.approx(0.001)
