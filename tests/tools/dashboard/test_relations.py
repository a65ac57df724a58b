"""How objects belong together: tables of objects and the boxes and lines that they become."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.dashboard.relations import MOST_PODS, SLICES, graph, maker_state, pod_state
from tests.doubling import MOST_GROWTH, Input, growth

Object = dict[str, Any]
_READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def _meta(name: str, owner: str = "", **more: Any) -> Object:
    owners = {"ownerReferences": [{"uid": owner, "controller": True}]} if owner else {}
    return {"name": name, "namespace": "shop", "uid": name, **owners, **more}


def _pod(name: str, owner: str = "web-1", status: Object = _READY, **spec: Any) -> Object:
    return {"metadata": _meta(name, owner), "spec": {"nodeName": "one", **spec}, "status": status}


def _shop(pods: list[Object]) -> dict[str, list[Object]]:
    endpoints = [
        {"targetRef": {"kind": "Pod", "name": pod["metadata"]["name"], "namespace": "shop"}} for pod in pods
    ]
    return {
        "pods": pods,
        "replicasets.apps": [{"metadata": _meta("web-1", "web"), "spec": {"replicas": 2}}],
        "deployments.apps": [
            {"metadata": _meta("web"), "spec": {"replicas": 2}, "status": {"readyReplicas": 2}}
        ],
        "services": [{"metadata": _meta("front")}, {"metadata": _meta("nobody")}],
        SLICES: [
            {"metadata": _meta("front-x", labels={"kubernetes.io/service-name": "front"}), "endpoints": endpoints}
        ],
        "ingresses.networking.k8s.io": [
            {
                "metadata": _meta("in"),
                "spec": {
                    "rules": [{"http": {"paths": [{"backend": {"service": {"name": "front"}}}]}}],
                    "defaultBackend": {"service": {"name": "missing"}},
                },
            }
        ],
        "nodes": [{"metadata": {"name": "one", "uid": "one"}, "status": _READY}],
    }  # fmt: skip


def _states(result: Object) -> dict[str, str]:
    return {box["id"]: box["state"] for box in result["boxes"]}


def test_from_the_way_in_to_the_node() -> None:
    claim: Object = {"volumes": [{"persistentVolumeClaim": {"claimName": "data"}}, {"emptyDir": {}}]}
    result = graph(_shop([_pod("a"), _pod("b", **claim)]))
    assert _states(result) == {
        "pods/shop/a": "good", "pods/shop/b": "good", "deployments.apps/shop/web": "good", "nodes//one": "good",
        "persistentvolumeclaims/shop/data": "bad", "services/shop/front": "good", "services/shop/nobody": "bad",
        "ingresses.networking.k8s.io/shop/in": "bad", "services/shop/missing": "bad",
    }  # fmt: skip
    edges = {tuple(edge) for edge in result["edges"]}
    assert edges == {
        ("deployments.apps/shop/web", "pods/shop/a"), ("deployments.apps/shop/web", "pods/shop/b"),
        ("pods/shop/a", "nodes//one"), ("pods/shop/b", "nodes//one"), ("pods/shop/b", "persistentvolumeclaims/shop/data"),
        ("services/shop/front", "pods/shop/a"), ("services/shop/front", "pods/shop/b"),
        ("ingresses.networking.k8s.io/shop/in", "services/shop/front"),
        ("ingresses.networking.k8s.io/shop/in", "services/shop/missing"),
    }  # fmt: skip


def test_many_pods_are_shown_by_their_maker() -> None:
    pods = [_pod(f"p{number}") for number in range(MOST_PODS)] + [
        _pod("last", status={"phase": "Failed"}), _pod("alone", owner=""),
    ]  # fmt: skip
    result = graph(_shop(pods))
    boxes = {box["id"]: box for box in result["boxes"]}
    group = boxes["pods of deployments.apps/shop/web"]
    assert (group["name"], group["state"], group["text"]) == ("web", "bad", f"1 bad, {MOST_PODS} good")
    assert [box for box in boxes if box.startswith("pods")] == [group["id"], "pods/shop/alone"]
    assert ["services/shop/front", group["id"]] in result["edges"]


def test_owners_that_own_one_another_and_objects_with_nothing_in_them() -> None:
    objects = _shop([_pod("a")])
    objects["deployments.apps"][0]["metadata"] |= {"ownerReferences": [{"uid": "web-1", "controller": True}]}
    assert graph(objects)["boxes"]
    bare: Object = {"metadata": {"name": "x"}}
    assert graph({resource: [bare] for resource in objects})["boxes"]
    assert graph({}) == {"boxes": [], "edges": []}


def test_gateways_and_routes() -> None:
    route = {
        "metadata": _meta("route"),
        "spec": {"parentRefs": [{"name": "door"}], "rules": [{"backendRefs": [{"name": "front"}, {"kind": "Other", "name": "x"}]}]},
    }  # fmt: skip
    objects = {
        "services": [{"metadata": _meta("front"), "spec": {"type": "ExternalName"}}],
        "httproutes.gateway.networking.k8s.io": [route],
        "gateways.gateway.networking.k8s.io": [{"metadata": _meta("door")}],
    }
    result = graph(objects)
    names = [
        "httproutes.gateway.networking.k8s.io/shop/route",
        "gateways.gateway.networking.k8s.io/shop/door",
    ]
    assert result["edges"] == [[names[0], "services/shop/front"], [names[1], names[0]]]
    assert _states(result)["services/shop/front"] == "good"


def _waiting(reason: str) -> Object:
    return {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": reason}}}]}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (_READY, "good"), ({"phase": "Succeeded"}, "good"), ({"phase": "Failed"}, "bad"), ({}, "wait"), (None, "wait"),
        (_waiting("ContainerCreating"), "wait"), (_waiting("CrashLoopBackOff"), "bad"), (_waiting("CreateContainerConfigError"), "bad"),
    ],
)  # fmt: skip
def test_how_a_pod_is(status: Object, state: str) -> None:
    assert pod_state({"status": status}) == state


@pytest.mark.parametrize(
    ("maker", "state"),
    [
        ({"spec": {"replicas": 2}, "status": {"readyReplicas": 2}}, "good"),
        ({"spec": {"replicas": 2}, "status": {"readyReplicas": 1}}, "wait"),
        ({"spec": {"replicas": 2}, "status": {}}, "bad"),
        ({"status": {"desiredNumberScheduled": 3, "numberReady": 3}}, "good"),
        ({}, "good"),
    ],
)
def test_how_a_maker_is(maker: Object, state: str) -> None:
    assert maker_state(maker) == state


def _crowd(size: int) -> dict[str, list[Object]]:
    """Return as many pods as nodes, claims, ways in and gateways, each with one of the others that is far behind."""
    names = [f"x-{number}" for number in range(size)]
    return {
        "pods": [
            _pod(name, nodeName=other, volumes=[{"persistentVolumeClaim": {"claimName": other}}])
            for name, other in zip(names, reversed(names), strict=True)
        ],
        "nodes": [{"metadata": {"name": name, "uid": f"node-{name}"}, "status": _READY} for name in names],
        "persistentvolumeclaims": [{"metadata": _meta(name)} for name in names],
        "gateways.gateway.networking.k8s.io": [{"metadata": _meta(name)} for name in names],
        "httproutes.gateway.networking.k8s.io": [
            {"metadata": _meta(name), "spec": {"parentRefs": [{"name": other}]}}
            for name, other in zip(names, reversed(names), strict=True)
        ],
    }


def test_a_crowd_takes_time_in_proportion() -> None:
    assert growth(Input("a map", _crowd, graph, start=64, largest=1 << 12)) <= MOST_GROWTH
