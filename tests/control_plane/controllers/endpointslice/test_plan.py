"""Which slices a service should have."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects import services
from pybernetes.control_plane.controllers.endpointslice import plan
from pybernetes.control_plane.controllers.endpointslice.plan import Plan
from pybernetes.lib.clock import ManualClock
from tests.control_plane.controllers.services import node, pod, service

NUMBERS = count()
NODES = {"node": node(zone="a"), "other": node("other")}


def decide(existing: list[Object], pods: Iterable[Object], maximum: int = 100, **spec: Any) -> Plan:
    return plan.plan(service(**spec), "IPv4", pods, NODES.get, existing, maximum)


def apply(existing: list[Object], todo: Plan) -> list[Object]:
    """Return the slices after a plan, as the server would have them."""
    gone = {slice_["metadata"]["name"] for slice_ in [*todo.delete, *todo.update]}
    kept = [slice_ for slice_ in existing if slice_["metadata"]["name"] not in gone]
    made = []
    for slice_ in todo.create:
        name = f"web-{next(NUMBERS)}"
        made.append(
            {**slice_, "metadata": {**slice_["metadata"], "name": name, "uid": name, "resourceVersion": "1"}}
        )
    return [*kept, *todo.update, *made]


def settled(pods: Iterable[Object], maximum: int = 100, **spec: Any) -> list[Object]:
    return apply([], decide([], pods, maximum, **spec))


def pods_of(slices: list[Object]) -> list[str]:
    return sorted(endpoint["targetRef"]["name"] for slice_ in slices for endpoint in slice_["endpoints"])


def test_an_endpoint() -> None:
    [slice_] = settled([pod(0, hostname="pod-0", subdomain="web")])
    assert slice_["addressType"] == "IPv4"
    assert slice_["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert slice_["endpoints"] == [
        {
            "addresses": ["10.244.0.1"],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "targetRef": {"kind": "Pod", "namespace": "default", "name": "pod-0", "uid": "uid-0"},
            "nodeName": "node",
            "zone": "a",
            "hostname": "pod-0",
        }
    ]
    meta = slice_["metadata"]
    assert meta["generateName"] == "web-"
    assert meta["ownerReferences"][0]["uid"] == "uid-web"
    assert meta["labels"] == {
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }


@pytest.mark.parametrize(
    ("obj", "spec", "conditions"),
    [
        (pod(0), {}, (True, True, False)),
        (pod(0, ready=False), {}, (False, False, False)),
        (pod(0, going=True), {}, (False, True, True)),
        (pod(0, going=True, ready=False), {}, (False, False, True)),
        (pod(0, ready=False), {"publishNotReadyAddresses": True}, (True, False, False)),
        (pod(0, going=True), {"publishNotReadyAddresses": True}, (True, True, True)),
        (pod(0, phase="Succeeded"), {}, None),
        (pod(0, phase="Failed"), {"publishNotReadyAddresses": True}, None),
        (pod(0, node="gone"), {}, None),
        (pod(0, node="gone"), {"publishNotReadyAddresses": True}, (True, True, False)),
    ],
)
def test_conditions(obj: Object, spec: Object, conditions: tuple[bool, bool, bool] | None) -> None:
    [slice_] = settled([obj], **spec)
    states = [tuple(one["conditions"].values()) for one in slice_["endpoints"]]
    assert states == ([conditions] if conditions else [])


def test_families() -> None:
    assert plan.families(service()) == ["IPv4"]
    assert plan.families(service(ipFamilies=["IPv6", "IPv4"])) == ["IPv6", "IPv4"]
    assert plan.families(service(ipFamilies=[], clusterIP="fd00::1")) == ["IPv6"]
    assert plan.families(service(ipFamilies=None, clusterIP="None")) == ["IPv4", "IPv6"]
    todo = plan.plan(service(), "IPv6", [pod(0)], NODES.get, [], 100)
    assert todo.create[0]["endpoints"][0]["addresses"] == ["fd00::1"]


def test_ports_by_name_make_groups() -> None:
    ports = [{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP", "appProtocol": "h2c"}]

    def listening(number: int, port: int) -> Object:
        container = {"name": "main", "ports": [{"name": "web", "containerPort": port, "protocol": "TCP"}]}
        return {**pod(number), "spec": {"nodeName": "node", "containers": [container]}}

    slices = settled([listening(0, 80), listening(1, 81), listening(2, 80), pod(3)], ports=ports)
    groups = {tuple(port["port"] for port in slice_["ports"]): pods_of([slice_]) for slice_ in slices}
    assert groups == {(80,): ["pod-0", "pod-2"], (81,): ["pod-1"], (): ["pod-3"]}
    assert slices[0]["ports"][0]["appProtocol"] == "h2c"


def test_no_endpoints_is_one_empty_slice_that_stays() -> None:
    slices = settled([])
    assert len(slices) == 1
    assert slices[0]["endpoints"] == slices[0]["ports"] == []
    again = decide(slices, [])
    assert (again.create, again.update, again.delete) == ([], [], [])
    # It becomes the first real slice, and that becomes the empty one again.
    first = decide(slices, [pod(0)])
    assert (len(first.create), len(first.update), len(first.delete)) == (0, 1, 0)
    filled = apply(slices, first)
    assert pods_of(filled) == ["pod-0"]
    emptied = decide(filled, [])
    assert (len(emptied.create), len(emptied.update), len(emptied.delete)) == (0, 1, 0)
    assert emptied.update[0]["metadata"]["name"] == slices[0]["metadata"]["name"]


def test_changes_touch_few_slices() -> None:
    pods = [pod(number) for number in range(250)]
    slices = settled(pods)
    assert sorted(len(slice_["endpoints"]) for slice_ in slices) == [50, 100, 100]
    # One that is new fits into the slice that is not full.
    more = decide(slices, [*pods, pod(250)])
    assert (len(more.create), len(more.update), len(more.delete)) == (0, 1, 0)
    assert len(more.update[0]["endpoints"]) == 51
    # One that goes and one that comes: the slice of the first takes the second.
    swapped = decide(slices, [*pods[1:], pod(250)])
    assert (len(swapped.create), len(swapped.update), len(swapped.delete)) == (0, 1, 0)
    assert len(swapped.update[0]["endpoints"]) == 100
    # One that changes its state.
    unready = decide(slices, [*pods[1:], pod(0, ready=False)])
    assert (len(unready.create), len(unready.update), len(unready.delete)) == (0, 1, 0)


def test_slices_of_a_former_service_go() -> None:
    slices = settled([pod(0)])
    slices[0]["metadata"]["ownerReferences"][0]["uid"] = "former"
    todo = decide(slices, [pod(0)])
    assert todo.delete == slices
    assert len(todo.create) == 1


def test_labels_follow_the_service() -> None:
    slices = settled([pod(0)])
    labelled = service()
    labelled["metadata"]["labels"] = {"team": "blue", "kubernetes.io/service-name": "mine"}
    todo = plan.plan(labelled, "IPv4", [pod(0)], NODES.get, slices, 100)
    [changed] = todo.update
    assert changed["metadata"]["labels"]["team"] == "blue"
    assert changed["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
    headless = settled([pod(0)], clusterIP="None")
    assert headless[0]["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


@given(st.lists(st.sets(st.integers(0, 30), max_size=30), min_size=1, max_size=6), st.integers(1, 7))
def test_slices_hold_exactly_the_pods(steps: list[set[int]], maximum: int) -> None:
    slices: list[Object] = []
    for step in steps:
        pods = [pod(number) for number in sorted(step)]
        slices = apply(slices, decide(slices, pods, maximum))
        assert pods_of(slices) == sorted(obj["metadata"]["name"] for obj in pods)
        assert all(len(slice_["endpoints"]) <= maximum for slice_ in slices)
        assert len(slices) >= 1
        again = decide(slices, pods, maximum)
        assert (again.create, again.update, again.delete) == ([], [], [])


def test_trigger_times() -> None:
    times = services.TriggerTimes()
    web = service()
    assert times.compute("a", web, [pod(1)]) == "2026-01-01T00:00:00Z"
    assert times.compute("a", web, [pod(1)]) == ""
    assert times.compute("a", web, [pod(1), pod(2), pod(3)]) == "2026-01-01T00:01:02Z"
    times.forget("a")
    assert times.compute("a", web, []) == "2026-01-01T00:00:00Z"


async def test_what_is_expensive_is_done_less_often() -> None:
    clock = ManualClock()
    pace = services.Pace(clock)
    assert pace.delay("a") == 0
    pace.worked("a", 0.05)
    assert pace.delay("a") == pytest.approx(0.45)
    await clock.advance(1)
    assert pace.delay("a") == 0
    pace.worked("a", 10)
    assert pace.delay("a") == pytest.approx(1)
    pace.worked("a", 0.0001)
    assert pace.delay("a") == 0
