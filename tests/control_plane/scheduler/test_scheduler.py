"""The scheduler against a real API server: pods get nodes, or a reason."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from pybernetes.client.client import Client
from pybernetes.client.refs import (
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    PRIORITY_CLASSES,
    STORAGE_CLASSES,
)
from pybernetes.control_plane.scheduler.scheduler import queue_sort
from pybernetes.scheduling import persistent_volumes
from pybernetes.scheduling.config import ConfigurationError, profile_config
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.profile import Profile
from pybernetes.scheduling.registry import PACKAGE
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot
from tests.added_files import added_file
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import add_node, is_on, message, scheduling
from tests.scheduling.builders import node, pod
from tests.scheduling.volumes import claim, storage_class, volume, with_claims
from tests.support import eventually


@pytest.mark.parametrize("transport", ["in-process", "https"])
async def test_pods_get_nodes_and_reasons(transport: str) -> None:
    async with Cluster() as cluster:
        client = cluster.client
        async with scheduling(client if transport == "in-process" else cluster.rest_client()):
            await client.create(PODS, pod("early"))
            await eventually(lambda: message(client, "early"))
            assert await message(client, "early") == "no nodes available to schedule pods"
            await add_node(client, node("small", cpu="2"))
            await eventually(lambda: is_on(client, "early", "small"))
            await client.create(PODS, pod("large", cpu="3"))
            await eventually(lambda: message(client, "large"))
            assert (await message(client, "large")).startswith("0/1 nodes are available: 1 Insufficient cpu.")
            await add_node(client, node("big", cpu="8"))
            await eventually(lambda: is_on(client, "large", "big"))

            async def all_reported() -> bool:
                events = (await client.list(EVENTS, "default")).items
                seen = {(event["involvedObject"]["name"], event["reason"]) for event in events}
                return seen == {
                    (name, what) for name in ("early", "large") for what in ("Scheduled", "FailedScheduling")
                }

            await eventually(all_reported)


async def test_a_pod_of_higher_priority_gets_room() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 1000})
        async with scheduling(client):
            await add_node(client, node("only", cpu="2"))
            for name in ("first", "second"):
                await client.create(PODS, pod(name, terminationGracePeriodSeconds=0))
                await eventually(partial(is_on, client, name, "only"))
            await client.create(PODS, pod("important", priorityClassName="high"))
            await eventually(lambda: is_on(client, "important", "only"))
            left = {obj["metadata"]["name"] for obj in (await client.list(PODS, "default")).items}
            assert "important" in left and len(left) == 2

            async def preempted() -> bool:
                events = (await client.list(EVENTS, "default")).items
                return any(event["reason"] == "Preempted" for event in events)

            await eventually(preempted)


async def test_pods_that_fit_nowhere_are_left_alone_while_others_come() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        async with scheduling(client) as scheduler:
            await add_node(client, node("only", cpu="4"))
            for number in range(40):
                await client.create(PODS, pod(f"waiting-{number}", cpu="9"))
            tries = scheduler.metrics.attempts
            await eventually(lambda: tries["unschedulable", "default-scheduler"] == 40)
            for number in range(40):
                await client.create(PODS, pod(f"small-{number}", cpu="100m"))
            await eventually(lambda: tries["scheduled", "default-scheduler"] == 40)
            # Nothing that has happened since could have helped them, so nobody has tried them again.
            assert tries["unschedulable", "default-scheduler"] == 40


async def bind_as_the_controller_would(client: Client, name: str, volume_name: str) -> None:
    """What the volume controller does once a volume is meant for a claim."""
    bound = await client.get(PERSISTENT_VOLUME_CLAIMS, name, "default")
    bound["spec"]["volumeName"] = volume_name
    bound["metadata"].setdefault("annotations", {})[persistent_volumes.BIND_COMPLETED] = "yes"
    await client.update(PERSISTENT_VOLUME_CLAIMS, bound)


async def test_volumes_are_bound_before_the_pod_is() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(STORAGE_CLASSES, storage_class("local"))
        pv = volume("v", on="b")
        del pv["metadata"]["resourceVersion"]
        pv["spec"]["hostPath"] = {"path": "/data"}
        made = await client.create(PERSISTENT_VOLUMES, pv)
        await client.update_status(PERSISTENT_VOLUMES, {**made, "status": {"phase": "Available"}})
        async with scheduling(client):
            for name in ("a", "b"):
                await add_node(client, node(name))
            await client.create(PODS, with_claims("p", "x"))
            await eventually(lambda: message(client, "p"))
            wanted = claim("x")
            for key in ("uid", "resourceVersion"):
                del wanted["metadata"][key]
            await client.create(PERSISTENT_VOLUME_CLAIMS, wanted)

            async def meant() -> bool:
                stored = await client.get(PERSISTENT_VOLUMES, "v")
                return stored["spec"].get("claimRef", {}).get("name") == "x"

            await eventually(meant)
            assert not await is_on(client, "p", "b")  # not before the volume is there
            await bind_as_the_controller_would(client, "x", "v")
            await eventually(lambda: is_on(client, "p", "b"))


def test_all_profiles_sort_their_one_queue_alike(tmp_path: Path) -> None:
    text = """
    from pybernetes.scheduling.plugin import QueueSortPlugin


    class OldestFirst(QueueSortPlugin):
        name = "OldestFirst"
        points = ("queueSort",)

        def sort_key(self, pod, since):
            return (since,)


    PLUGIN = OldestFirst
    """
    sets = {"queueSort": {"enabled": [{"name": "OldestFirst"}], "disabled": [{"name": "*"}]}}
    with added_file(PACKAGE, tmp_path, "oldest_first", text):
        handle = Handle(Snapshot(Resources()), Listers())
        usual = Profile(profile_config({}, 0), handle)
        other = Profile(profile_config({"schedulerName": "other", "plugins": sets}, 0), handle)
        assert queue_sort([other]).name == "OldestFirst"
        with pytest.raises(ConfigurationError, match='profile "other": "OldestFirst", first: "PrioritySort"'):
            queue_sort([usual, other])


async def test_amounts_beyond_all_measure_are_just_too_much() -> None:
    async with Cluster() as cluster, scheduling(cluster.client):
        client = cluster.client
        await add_node(client, node("huge", cpu="1e30", unschedulable=True))
        await add_node(client, node("n0"))
        await add_node(client, node("n1"))
        for number in range(3):  # nobody asks the scheduler about these
            await client.create(PODS, pod(f"bound-{number}", "8e30", nodeName="n0"))
        await client.create(PODS, pod("too-much", "1e18"))
        await eventually(lambda: message(client, "too-much"))
        assert "2 Insufficient cpu" in await message(client, "too-much")
        await client.create(PODS, pod("usual"))
        await eventually(lambda: is_on(client, "usual", "n1"))
