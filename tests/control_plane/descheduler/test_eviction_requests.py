"""Evictions in background: how requests are followed, counted and given up, and a webhook that takes them up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import NODES, PODS, VALIDATING_WEBHOOK_CONFIGURATIONS
from pybernetes.control_plane.descheduler.descheduler import Descheduler
from pybernetes.control_plane.descheduler.eviction_requests import EvictionRequests
from pybernetes.control_plane.descheduler.evictor import Limits
from pybernetes.control_plane.descheduler.metrics import DeschedulerMetrics
from pybernetes.control_plane.descheduler.plugin import Outcome
from pybernetes.control_plane.descheduler.pod_records import PodRecord, RecordReader
from pybernetes.scheduling.resource_requests import Resources
from tests.cluster import Cluster
from tests.control_plane.descheduler.test_descheduler import Later, hollow, is_gone, running
from tests.control_plane.descheduler.test_descheduler import pod as real_pod
from tests.control_plane.descheduler.worlds import pod, policy
from tests.hook_server import allow, deny, hook_server
from tests.support import eventually

ASKS = "descheduler.alpha.kubernetes.io/request-evict-only"
WORKS = "descheduler.alpha.kubernetes.io/eviction-in-progress"
MESSAGE = "Eviction triggered evacuation using virt-launcher"


def record(*annotations: str, phase: str = "Running", name: str = "vm") -> PodRecord:
    given = pod(name, annotations=dict.fromkeys(annotations, ""), status={"phase": phase})
    return RecordReader(Resources()).read(given)


PLAIN, ASKED, BUSY = record(), record(ASKS), record(ASKS, WORKS)
ENDED, FAILED = record(ASKS, WORKS, phase="Succeeded"), record(ASKS, WORKS, phase="Failed")


@pytest.mark.parametrize(
    ("changes", "under_way", "results"),
    [
        ([BUSY], 1, {}),
        ([ASKED], 0, {}),
        ([PLAIN], 0, {}),
        ([ENDED], 0, {}),
        ([ASKED, BUSY], 1, {}),
        ([BUSY, ASKED], 0, {}),
        ([BUSY, PLAIN], 0, {}),
        ([BUSY, ENDED], 0, {}),
        ([BUSY, None], 0, {}),
        # Asked for by this descheduler: what becomes of it is counted.
        ([ASKED, "assume"], 1, {"background": 1}),
        ([ASKED, "assume", "assume"], 1, {"background": 1}),
        ([ASKED, "assume", BUSY, None], 0, {"background": 1, "success": 1}),
        ([ASKED, BUSY, "assume", None], 0, {"background": 1, "success": 1}),
        ([ASKED, "assume", BUSY, ENDED], 0, {"background": 1, "success": 1}),
        ([ASKED, "assume", BUSY, FAILED], 0, {"background": 1, "error": 1}),
        ([ASKED, "assume", BUSY, ASKED], 0, {"background": 1}),
        ([ASKED, "assume", "expire"], 0, {"background": 1, "error": 1}),
        ([ASKED, "assume", "too early"], 1, {"background": 1}),
        ([BUSY, "expire"], 1, {}),
        ([ASKED, "assume", record(ASKS, name="other")], 0, {"background": 1, "success": 1}),
    ],
)
def test_a_request_is_followed(
    changes: Sequence[PodRecord | str | None], under_way: int, results: dict[str, int]
) -> None:
    metrics = DeschedulerMetrics("v0.0")
    requests = EvictionRequests(metrics)
    current: PodRecord | None = None
    for change in changes:
        if change == "assume":
            assert current is not None
            if not requests.covers(current) or current is BUSY:
                requests.assume(current, "Taints", "p", 100.0)
                metrics.count("background", "Taints", "p", "default", "n1")
        elif change == "expire":
            requests.expire(701.0)
        elif change == "too early":
            requests.expire(700.0)
        else:
            assert not isinstance(change, str)
            requests.follow(current, change)
            current = change
    assert requests.total == under_way
    assert (requests.nodes["n1"], requests.namespaces["default"]) == (under_way, under_way)
    assert {key[0]: count for key, count in metrics.evicted.items()} == results
    assert all(key[1:] == ("Taints", "p", "default", "n1") for key in metrics.evicted)


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [
        ("maxNoOfPodsToEvictTotal", Outcome.TOTAL_LIMIT),
        ("maxNoOfPodsToEvictPerNode", Outcome.NODE_LIMIT),
        ("maxNoOfPodsToEvictPerNamespace", Outcome.NAMESPACE_LIMIT),
    ],
)
def test_requests_count_where_there_are_limits(limit: str, outcome: Outcome) -> None:
    requests = EvictionRequests(DeschedulerMetrics("v0.0"))
    given: dict[str, Any] = {limit: 2}
    limits = Limits(policy({}, **given), requests)
    requests.follow(None, BUSY)
    assert limits.exceeded(PLAIN.pod) is None
    limits.count(PLAIN.pod)
    exceeded = limits.exceeded(PLAIN.pod)
    assert exceeded is not None and exceeded[0] is outcome


def takes_up(client: Object) -> Object:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods/eviction"],
        "operations": ["CREATE"],
    }
    hook = {"name": "evictions.example.com", "clientConfig": client, "rules": [rule], "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail"}  # fmt: skip
    return {"metadata": {"name": "evictions"}, "webhooks": [hook]}


async def result(descheduler: Descheduler, name: str) -> int:
    return sum(count for key, count in descheduler.metrics.evicted.items() if key[0] == name)


async def test_a_webhook_takes_evictions_up(tmp_path: Path) -> None:
    """Two virtual machines and a pod on a tainted node: the webhook moves machines first, one is allowed at a time."""
    rules = policy({"RemovePodsViolatingNodeTaints": {}}, maxNoOfPodsToEvictTotal=2)
    with hook_server(tmp_path) as hooks:
        hooks.respond = lambda path, review: (
            deny(review, code=429, message=MESSAGE) if review["request"]["name"].startswith("vm") else allow(review)
        )  # fmt: skip
        async with Cluster() as cluster, hollow(cluster.client, "a", "b"):
            client: Client = cluster.client
            await client.create(VALIDATING_WEBHOOK_CONFIGURATIONS, takes_up(hooks.client()))
            await client.create(PODS, real_pod("vm-1", "a", annotations={ASKS: ""}))
            await client.create(PODS, real_pod("vm-2", "a", annotations={ASKS: ""}))
            await client.create(PODS, real_pod("web", "a"))
            await client.patch(
                PODS, "vm-2", {"metadata": {"annotations": {WORKS: "other"}}}, namespace="default"
            )
            taints: list[Object] = [{"key": "k", "effect": "NoSchedule"}]
            await client.patch(NODES, "a", {"spec": {"taints": taints}})
            await eventually(lambda: running(client, 3))
            descheduler = Descheduler(client, rules, in_background=True, clock=Later())
            async with descheduler.following():
                requests = descheduler.requests
                assert requests is not None and requests.total == 1  # what somebody else asked for
                assert await descheduler.run_once() == []
                assert requests.total == 2 and await result(descheduler, "background") == 1
                # Both are under way, so that the limit is reached: the web pod has to wait.
                assert await result(descheduler, Outcome.TOTAL_LIMIT.value) >= 1
                assert [review["request"]["name"] for _, review in hooks.asked] == ["vm-1"]
                await client.delete(PODS, "vm-1", "default", grace=0)  # it has been moved
                await eventually(lambda: requests.total == 1)
                assert await result(descheduler, "success") == 1
                assert [eviction.record.pod.name for eviction in await descheduler.run_once()] == ["web"]
                await eventually(lambda: is_gone(client, "web"))

            # Without the feature it is a refusal as any other.
            plain = Descheduler(client, rules, clock=Later())
            async with plain.following():
                assert await plain.run_once() == []
            assert await result(plain, "error") == 1 and await result(plain, "background") == 0
