"""Deletion: finalizers, propagation, preconditions, grace, collections."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers import Server

MERGE = {"Content-Type": "application/merge-patch+json"}


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_finalizers_hold_an_object_until_they_are_gone(server: Server, namespace: str) -> None:
    body = config_map("held")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    server.call("POST", path(namespace), body)
    status, held = server.call("DELETE", path(namespace, "held"))
    assert status == 200 and held["metadata"]["deletionTimestamp"]
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    status, refused = server.call(
        "PATCH", path(namespace, "held"), {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}},
        headers=MERGE,
    )  # fmt: skip
    assert status == 422 and "no new finalizers can be added" in refused["message"]
    server.call("PATCH", path(namespace, "held"), {"metadata": {"finalizers": None}}, headers=MERGE)
    assert server.call("GET", path(namespace, "held"))[0] == 404


@pytest.mark.parametrize(
    ("policy", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")]
)
def test_propagation_policies_leave_their_finalizer(
    server: Server, namespace: str, policy: str, finalizer: str
) -> None:
    name = policy.lower()
    server.call("POST", path(namespace), config_map(name))
    _, answer = server.call("DELETE", path(namespace, name), {"propagationPolicy": policy})
    assert answer["metadata"]["finalizers"] == [finalizer]
    server.call("PATCH", path(namespace, name), {"metadata": {"finalizers": None}}, headers=MERGE)


def test_preconditions(server: Server, namespace: str) -> None:
    _, made = server.call("POST", path(namespace), config_map("sure"))
    status, answer = server.call("DELETE", path(namespace, "sure"), {"preconditions": {"uid": "other"}})
    assert status == 409 and "the UID in the precondition (other) does not match" in answer["message"]
    uid = made["metadata"]["uid"]
    assert server.call("DELETE", path(namespace, "sure"), {"preconditions": {"uid": uid}})[0] == 200


def test_a_running_pod_is_deleted_with_grace(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    spec = {"containers": [{"name": "a", "image": "b"}], "nodeName": "somewhere"}
    server.call("POST", pods, {"metadata": {"name": "p"}, "spec": spec})
    status, going = server.call("DELETE", f"{pods}/p")
    assert status == 200 and going["metadata"]["deletionGracePeriodSeconds"] == 30
    assert server.call("GET", f"{pods}/p")[0] == 200
    assert server.call("DELETE", f"{pods}/p", {"gracePeriodSeconds": 0})[0] == 200
    assert server.call("GET", f"{pods}/p")[0] == 404


def test_delete_collection(server: Server, namespace: str) -> None:
    for name, label in (("one", "x"), ("two", "x"), ("three", "y")):
        body = config_map(name)
        body["metadata"]["labels"] = {"set": label}
        server.call("POST", path(namespace), body)
    status, answer = server.call("DELETE", path(namespace), query={"labelSelector": "set=x"})
    assert status == 200 and {item["metadata"]["name"] for item in answer["items"]} == {"one", "two"}
    _, left = server.call("GET", path(namespace), query={"labelSelector": "set"})
    assert [item["metadata"]["name"] for item in left["items"]] == ["three"]


def test_what_is_being_deleted(server: Server, namespace: str) -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert server.call("POST", path(namespace, plural="pods"), pod)[0] == 201
    status, gone = server.call("DELETE", path(namespace, "a", "pods"), query={"gracePeriodSeconds": 0})
    meta = gone["metadata"]
    assert (status, meta["deletionGracePeriodSeconds"], meta["generation"]) == (200, 0, 2)
    assert meta["deletionTimestamp"]
    stays = {"metadata": {"name": "b", "finalizers": ["example.com/x"]}}
    assert server.call("POST", path(namespace), stays)[0] == 201
    assert server.call("DELETE", path(namespace, "b"))[0] == 200
    status, refused = server.call("POST", path(namespace), stays)
    assert (status, refused["message"]) == (
        409,
        'object is being deleted: configmaps "b" already exists',
    )
    server.call("PATCH", path(namespace, "b"), {"metadata": {"finalizers": None}}, headers=MERGE)
