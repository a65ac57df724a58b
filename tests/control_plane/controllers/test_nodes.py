"""Address ranges of nodes, their TTL, and pods that nobody else deletes."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pybernetes.client import Client
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.controllers import pod_garbage_collector, ttl
from pybernetes.control_plane.controllers.node_ipam import cidrs, node_ipam
from pybernetes.control_plane.controllers.node_ipam.cidrs import CidrSet, Exhausted
from pybernetes.control_plane.controllers.pod_garbage_collector import surplus
from pybernetes.lib import flags
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster, eventually, pod
from tests.control_plane.controllers.managers import controllers, get_or_none, names


def cidr_sets(cluster: str, **changes: Any) -> list[CidrSet]:
    options = flags.defaults(node_ipam.CONTROLLER.flags, cluster_cidr=cluster, **changes)
    return cidrs.sets(options)


def test_parts_of_a_range() -> None:
    [parts] = cidr_sets("10.244.0.0/22")
    assert [parts.allocate() for _ in range(4)] == [
        "10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24", "10.244.3.0/24",
    ]  # fmt: skip
    with pytest.raises(Exhausted):
        parts.allocate()
    parts.release("10.244.2.0/24")
    assert parts.allocate() == "10.244.2.0/24"
    with pytest.raises(ValueError, match="out the range"):
        parts.occupy("10.0.0.0/24")


def test_services_and_what_is_taken_are_left_out() -> None:
    [parts] = cidr_sets("10.244.0.0/22", service_cluster_ip_range="10.244.0.0/23,fd00::/112")
    parts.occupy("10.244.2.0/24")
    assert parts.allocate() == "10.244.3.0/24"
    # A part that was just given back is the last to be given again.
    [parts] = cidr_sets("10.244.0.0/22")
    first = parts.allocate()
    parts.release(first)
    assert parts.allocate() == "10.244.1.0/24"


def test_two_families() -> None:
    four, six = cidr_sets("10.244.0.0/16,fd00:10::/56")
    assert (four.allocate(), six.allocate()) == ("10.244.0.0/24", "fd00:10::/64")
    four, six = cidr_sets(
        "10.244.0.0/16,fd00:10::/56", node_cidr_mask_size_ipv4=26, node_cidr_mask_size_ipv6=60
    )
    assert (four.allocate(), six.allocate()) == ("10.244.0.0/26", "fd00:10::/60")


@pytest.mark.parametrize(
    ("cluster", "changes", "message"),
    [
        ("", {}, "Must specify --cluster-cidr"),
        ("10.0.0.0/8,10.1.0.0/16", {}, "not configured as dual stack"),
        ("10.0.0.0/26", {}, "mask size of cluster CIDR"),
        ("fd00::/40", {}, "too big"),
        ("10.0.0.0/8,fd00::/56", {"node_cidr_mask_size": 24}, "not allowed with dual-stack"),
        ("10.0.0.0/8", {"node_cidr_mask_size": 24, "node_cidr_mask_size_ipv4": 24}, "is not allowed if"),
        ("10.0.0.0/8", {"node_cidr_mask_size_ipv6": 64}, "single-stack IPv4"),
        ("fd00::/56", {"node_cidr_mask_size_ipv4": 24}, "single-stack IPv6"),
        ("nonsense", {}, "nonsense"),
    ],
)
def test_flags_that_do_not_fit(cluster: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cidr_sets(cluster, **changes)


async def cidr(client: Client, name: str) -> str:
    return (await client.get(NODES, name))["spec"].get("podCIDR", "")


async def test_nodes_get_ranges() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, {"metadata": {"name": "old"}, "spec": {"podCIDR": "10.244.0.0/24"}})
        options = {"allocate_node_cidrs": True, "cluster_cidr": "10.244.0.0/23"}
        async with controllers(client, node_ipam.CONTROLLER, ttl.CONTROLLER, **options):
            await client.create(NODES, {"metadata": {"name": "new"}})
            assert await eventually(lambda: cidr(client, "new")) == "10.244.1.0/24"
            # One too many waits until another goes.
            await client.create(NODES, {"metadata": {"name": "late"}})

            async def annotated() -> Any:
                return (await client.get(NODES, "late"))["metadata"].get("annotations")

            assert (await eventually(annotated))["node.alpha.kubernetes.io/ttl"] == "0"
            assert await cidr(client, "late") == ""
            await client.delete(NODES, "old")
            assert await eventually(lambda: cidr(client, "late")) == "10.244.0.0/24"


@pytest.mark.parametrize(
    ("nodes", "current", "expected"),
    [
        (0, 0, 0),
        (100, 0, 0),
        (101, 0, 1),
        (95, 1, 1),
        (89, 1, 0),
        (501, 1, 2),
        (3000, 0, 4),
        (10, 4, 0),
        (1801, 4, 4),
    ],
)
def test_ttl_steps(nodes: int, current: int, expected: int) -> None:
    assert ttl.step(nodes, current) == expected


def test_surplus() -> None:
    def ended(name: str, created: str, reason: str = "") -> dict[str, Any]:
        return {"metadata": {"name": name, "creationTimestamp": created}, "status": {"reason": reason}}

    pods = [ended("new", "3"), ended("old", "1"), ended("evicted", "4", "Evicted"), ended("middle", "2")]
    assert [obj["metadata"]["name"] for obj in surplus(pods, 2)] == ["evicted", "old"]
    assert surplus(pods, 4) == surplus(pods, 0) == []


async def put(client: Client, name: str, node: str = "", phase: str = "Running", **meta: Any) -> None:
    made = pod(name, **meta)
    if node:
        made["spec"]["nodeName"] = node
    await client.create(PODS, made)
    await client.patch(PODS, name, {"status": {"phase": phase}}, "default", subresource="status")


async def test_pods_that_nobody_else_deletes() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        for name in ("node", "leaving", "broken"):
            await client.create(NODES, {"metadata": {"name": name}})
        await put(client, "stays", "node")
        await put(client, "orphan", "leaving", finalizers=["example.com/wait"])
        await put(client, "stuck", "broken")
        await put(client, "held", "", "Pending", finalizers=["example.com/wait"])
        for number in range(5):
            await put(client, f"ended-{number}", "node", "Succeeded")
        gc = pod_garbage_collector.CONTROLLER
        async with controllers(client, gc, clock=clock, terminated_pod_gc_threshold=3) as manager:
            await eventually(lambda: all(informer.synced for informer in manager.runtime.informers))

            async def few_ended() -> bool:
                await clock.advance(21)
                return len([name for name in await names(client, PODS) if name.startswith("ended")]) == 3

            await eventually(few_ended)
            # Deleted before it had a node.
            await client.delete(PODS, "held", "default")

            async def failed(name: str) -> bool:
                return (await client.get(PODS, name, "default"))["status"]["phase"] == "Failed"

            await eventually(lambda: failed("held"))
            # Out of service.
            await client.delete(PODS, "stuck", "default")
            taint = {
                "key": "node.kubernetes.io/out-of-service",
                "value": "nodeshutdown",
                "effect": "NoExecute",
            }
            await client.patch(NODES, "broken", {"spec": {"taints": [taint]}})

            async def stuck_gone() -> bool:
                return await get_or_none(client.get(PODS, "stuck", "default")) is None

            await eventually(stuck_gone)
            # On a node that is gone for a while.
            nodes = manager.runtime.informers.get(NODES)
            await client.delete(NODES, "leaving")
            await eventually(lambda: "leaving" not in nodes)
            await clock.advance(41)
            await eventually(lambda: failed("orphan"))
            orphan = await client.get(PODS, "orphan", "default")
            assert orphan["metadata"]["deletionGracePeriodSeconds"] == 0
            assert orphan["status"]["conditions"][0]["reason"] == "DeletionByPodGC"
            stays = await client.get(PODS, "stays", "default")
            assert stays["status"]["phase"] == "Running"
