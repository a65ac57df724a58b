"""Which children an owner keeps, takes in and lets go."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api import selectors
from pybernetes.client import StatusError
from pybernetes.client.refs import PODS, REPLICATION_CONTROLLERS
from pybernetes.runtime.owned_objects import claim, controller_of, decide, is_controlled_by, owner_reference
from tests.cluster import Cluster, pod

OWNER = {"metadata": {"name": "o", "namespace": "default", "uid": "mine"}}
GOING = {"metadata": {**OWNER["metadata"], "deletionTimestamp": "2027-01-01T00:00:00Z"}}
SELECTOR = selectors.parse_labels("app=x")


def child(labels: str, controller: str = "", namespace: str = "default", **more: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": "c", "namespace": namespace, "labels": {"app": labels}, **more}
    if controller:
        meta["ownerReferences"] = [{"uid": "other"}, {"uid": controller, "controller": True}]
    return {"metadata": meta}


@pytest.mark.parametrize(
    ("owner", "obj", "decision"),
    [
        (OWNER, child("x", "mine"), "keep"),
        (OWNER, child("y", "mine"), "release"),
        (OWNER, child("x", "another"), "ignore"),
        (OWNER, child("x"), "adopt"),
        (OWNER, child("y"), "ignore"),
        (OWNER, child("x", deletionTimestamp="t"), "ignore"),
        (OWNER, child("x", "mine", deletionTimestamp="t"), "keep"),
        (OWNER, child("x", namespace="elsewhere"), "ignore"),
        (GOING, child("x", "mine"), "keep"),
        (GOING, child("y", "mine"), "ignore"),
        (GOING, child("x"), "ignore"),
    ],
)
def test_decisions(owner: dict[str, Any], obj: dict[str, Any], decision: str) -> None:
    assert decide(owner, SELECTOR, obj) == decision


async def test_claiming_on_a_server() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        template = {"metadata": {"labels": {"app": "x"}}, "spec": pod("x")["spec"]}
        spec = {"selector": {"app": "x"}, "template": template}
        owner = await client.create(
            REPLICATION_CONTROLLERS, {"metadata": {"name": "o", "namespace": "default"}, "spec": spec}
        )
        reference = owner_reference(owner, REPLICATION_CONTROLLERS)
        orphan = await client.create(PODS, pod("orphan", labels={"app": "x"}))
        mine = await client.create(PODS, pod("mine", labels={"app": "x"}, ownerReferences=[reference]))
        stray = await client.create(PODS, pod("stray", labels={"app": "y"}, ownerReferences=[reference]))
        other = await client.create(PODS, pod("other", labels={"app": "y"}))
        pods = [orphan, mine, stray, other]
        arguments = (client, owner, REPLICATION_CONTROLLERS, SELECTOR, PODS)
        claimed = await claim(*arguments, pods, finalizers=("example.com/f",))
        assert sorted(obj["metadata"]["name"] for obj in claimed) == ["mine", "orphan"]
        adopted = await client.get(PODS, "orphan", "default")
        assert is_controlled_by(adopted, owner) and adopted["metadata"]["finalizers"] == ["example.com/f"]
        assert controller_of(await client.get(PODS, "stray", "default")) is None
        # A candidate of the cache that is gone by now is no error.
        late = await client.create(PODS, pod("late", labels={"app": "x"}))
        await client.delete(PODS, "late", "default", grace=0)
        assert await claim(*arguments, [late]) == []
        # An owner that is gone by now adopts nothing.
        await client.delete(REPLICATION_CONTROLLERS, "o", "default", propagation="Foreground")
        fresh = await client.create(PODS, pod("fresh", labels={"app": "x"}))
        with pytest.raises(StatusError, match="has just been deleted"):
            await claim(*arguments, [fresh])
