"""How many pods of a budget may be evicted."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client import Client, TooManyRequests
from pybernetes.client.refs import POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS
from pybernetes.control_plane.controllers import disruption
from pybernetes.control_plane.controllers.disruption import (
    Counts,
    desired_healthy,
    disrupted,
    healthy,
    needs_scale,
    stale_in,
    status,
)
from pybernetes.lib import rfc3339
from tests.cluster import Cluster, pod
from tests.control_plane.controllers import services
from tests.control_plane.controllers.managers import controllers
from tests.support import eventually


def budget(**spec: Any) -> Object:
    return {
        "metadata": {"name": "budget", "namespace": "default", "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "expected", "scale", "desired"),
    [
        ({"minAvailable": 2}, 5, False, 2),
        ({"minAvailable": "50%"}, 5, True, 3),
        ({"maxUnavailable": 2}, 5, True, 3),
        ({"maxUnavailable": "50%"}, 5, True, 2),
        ({"maxUnavailable": 9}, 5, True, 0),
        ({"maxUnavailable": 0}, 5, True, 5),
        ({}, 5, False, 0),
    ],
)
def test_desired_healthy(spec: Object, expected: int, scale: bool, desired: int) -> None:
    assert desired_healthy(budget(**spec), expected) == desired
    assert needs_scale(budget(**spec)) is scale


def test_allowed() -> None:
    assert Counts(5, 3, 5).allowed == 2
    assert Counts(3, 3, 5).allowed == 0
    assert Counts(1, 3, 5).allowed == 0
    # No pods yet: the first must not go before anybody has counted them.
    assert Counts(1, 0, 0).allowed == 0


def test_disrupted_pods() -> None:
    now = rfc3339.parse("2026-01-01T00:10:00Z")
    pods = [services.pod(number) for number in range(4)] + [services.pod(4, going=True)]
    known = {
        "pod-0": "2026-01-01T00:09:00Z",
        "pod-1": "2026-01-01T00:07:00Z",
        "pod-4": "2026-01-01T00:09:30Z",
        "gone": "2026-01-01T00:09:30Z",
    }
    kept, late, again = disrupted({**budget(), "status": {"disruptedPods": known}}, pods, now)
    assert kept == {"pod-0": "2026-01-01T00:09:00Z"}
    assert [obj["metadata"]["name"] for obj in late] == ["pod-1"]
    assert again == 60
    assert healthy([*pods, services.pod(5, ready=False)], kept) == 3


def test_status() -> None:
    first = status(budget(), Counts(3, 2, 3), {}, "1")
    assert first["disruptionsAllowed"] == 1
    assert first["observedGeneration"] == 1
    assert first["conditions"][0]["reason"] == "SufficientPods"
    again = status({**budget(), "status": first}, Counts(3, 2, 3), {}, "2")
    assert again == first
    fewer = status({**budget(), "status": first}, Counts(2, 2, 3), {}, "3")
    assert (fewer["conditions"][0]["status"], fewer["conditions"][0]["lastTransitionTime"]) == ("False", "3")
    failed = status({**budget(), "status": first}, Counts(0, 0, 0), {}, "4", failure="no")
    assert failed["disruptionsAllowed"] == 0
    assert failed["currentHealthy"] == 3
    assert (failed["conditions"][0]["reason"], failed["conditions"][0]["message"]) == ("SyncFailed", "no")


def test_stale_announcements() -> None:
    now = rfc3339.parse("2026-01-01T00:10:00Z")

    def announced(when: str, **more: str) -> Object:
        obj = services.pod(0)
        target = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": when, **more}
        obj["status"]["conditions"].append(target)
        return obj

    assert stale_in(services.pod(0), now) is None
    assert stale_in(announced("2026-01-01T00:09:00Z"), now) == 60
    assert stale_in(announced("2026-01-01T00:00:00Z"), now) == 0
    assert stale_in(announced("2026-01-01T00:09:00Z", reason="TerminationByKubelet"), now) is None
    assert stale_in(announced("2026-01-01T00:09:00Z", status="False"), now) is None


async def current(client: Client) -> Object:
    return (await client.get(POD_DISRUPTION_BUDGETS, "budget", "default"))["status"]


async def test_evictions_take_and_give() -> None:
    async with Cluster() as cluster, controllers(cluster.client, disruption.CONTROLLER):
        client = cluster.client
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}
        replica_set = await client.create(
            REPLICA_SETS,
            {
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template},
            },
        )
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "web",
            "uid": replica_set["metadata"]["uid"],
            "controller": True,
        }
        await client.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable=1))
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        for number in range(3):
            made = pod(f"pod-{number}", labels=labels, ownerReferences=[owner])
            made["spec"]["nodeName"] = "node"
            await client.create(PODS, made)
            await client.patch(PODS, f"pod-{number}", {"status": ready}, "default", subresource="status")

        async def counted() -> bool:
            status = await current(client)
            return (status["currentHealthy"], status["expectedPods"], status["disruptionsAllowed"]) == (
                3,
                3,
                1,
            )

        await eventually(counted)

        async def evict(name: str) -> None:
            meta = {"name": name, "namespace": "default"}
            eviction = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": meta}
            await client.create(PODS, eviction, "default", name=name, subresource="eviction")

        await evict("pod-0")
        with pytest.raises(TooManyRequests):
            await evict("pod-1")

        async def one_less() -> bool:
            status = await current(client)
            return (status["currentHealthy"], status["disruptionsAllowed"], status.get("disruptedPods")) == (
                2,
                0,
                None,
            )

        await eventually(one_less)
