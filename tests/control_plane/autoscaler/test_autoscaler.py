"""The autoscaler against a real API server, with a cloud that does what a test says: also one that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import yaml

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import CONFIG_MAPS, EVENTS, NODES, PODS, REPLICA_SETS, Ref
from pybernetes.cmd import cluster_autoscaler
from pybernetes.control_plane.autoscaler import status
from pybernetes.control_plane.autoscaler.autoscaler import Autoscaler
from pybernetes.control_plane.autoscaler.backoff import Backoffs
from pybernetes.control_plane.autoscaler.cluster_state import ClusterState, Health
from pybernetes.control_plane.autoscaler.groups import GroupState
from pybernetes.control_plane.autoscaler.provider import CREATING, CloudError, Instance, NodeGroup
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.tools.local.addons import addons
from tests.cluster import Cluster
from tests.control_plane.autoscaler import fakes
from tests.control_plane.autoscaler.fakes import Ahead, FakeCloud, FakeGroup
from tests.support import eventually

QUICK = (
    "--scale-down-unneeded-time=60s",
    "--node-delete-delay-after-taint=0s",
    "--scale-down-delay-after-add=10s",
)


class World:
    """An autoscaler whose passes a test runs one by one."""

    def __init__(self, client: Client, cloud: FakeCloud, *flags: str) -> None:
        self.client, self.cloud, self.clock = client, cloud, Ahead()
        options = cluster_autoscaler.parser().parse_args([*QUICK, *flags])
        self.autoscaler = Autoscaler(client, cloud, options, clock=self.clock)

    async def run(self) -> float:
        """Run a pass when the autoscaler has seen everything that there is."""
        pods = {
            pod["metadata"]["name"]: pod["metadata"]["resourceVersion"]
            for pod in (await self.client.list(PODS, "default")).items
        }
        nodes = {node["metadata"]["name"] for node in (await self.client.list(NODES)).items}

        def seen() -> bool:
            cluster = self.autoscaler.cluster
            known = {
                record.pod.name: record.pod.version
                for record in cluster.records.values()
                if record.pod.namespace == "default"
            }
            return known == pods and cluster.nodes.keys() == nodes

        await eventually(seen)
        return await self.autoscaler.run_once()

    async def later(self, seconds: float) -> float:
        """Run a pass some time later."""
        self.clock.seconds += seconds
        return await self.run()

    async def pod(self, name: str, on: str = "", **more: Any) -> None:
        """Create a pod: on a node, or one that the scheduler has found no room for."""
        made = fakes.pod(name, on, **more)
        del made["metadata"]["uid"]
        status = made.pop("status")
        await self.client.create(PODS, made)
        await self.client.patch_status(PODS, name, {"status": status}, "default")

    async def register(self, group: str, ready: bool = True) -> None:
        """Make nodes of all machines of a group that are none yet."""
        there = {node["spec"].get("providerID") for node in (await self.client.list(NODES)).items}
        for instance in self.cloud.groups[group].instances:
            if instance.id not in there:
                name = instance.id.removeprefix("fake://")
                made = fakes.node(name, group=group, provider_id=instance.id, ready=ready)
                del made["metadata"]["creationTimestamp"]
                status = made["status"]
                await self.client.create(NODES, made)
                await self.client.patch_status(NODES, name, {"status": status})
                await self.client.patch(NODES, name, {"spec": {"taints": None}})
        await eventually(
            lambda: all(
                self.autoscaler.cluster.nodes.get(i.id.removeprefix("fake://"))
                for i in self.cloud.groups[group].instances
            )
        )
        if ready:
            await eventually(lambda: all(node.ready for node in self.autoscaler.cluster.nodes.values()))

    async def events(self, reason: str) -> list[str]:
        """Return what was said for a reason, in the order of time."""
        await self.autoscaler._sender.flush()
        events = [event for event in (await self.client.list(EVENTS)).items if event["reason"] == reason]
        return [
            event["message"]
            for event in sorted(events, key=lambda event: int(event["metadata"]["resourceVersion"]))
        ]

    async def status(self) -> Object:
        """Return the status that is written down."""
        found = await self.client.get(CONFIG_MAPS, "cluster-autoscaler-status", "kube-system")
        return yaml.safe_load(found["data"]["status"])


@asynccontextmanager
async def world(
    cloud: FakeCloud, *flags: str, addon: Sequence[tuple[Ref, Object]] = ()
) -> AsyncIterator[World]:
    async with Cluster() as cluster:
        client = cluster.local_client()
        await addons.apply(client, list(addon))
        web = fakes.WEB
        template = {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        await client.create(
            REPLICA_SETS, {**web, "spec": {**web["spec"], "replicas": 0, "template": template}}
        )
        made = World(client, cloud, *flags)
        async with made.autoscaler.follower.following():
            yield made
            await made.autoscaler.actuator.close()


async def test_a_node_comes_for_a_pod_and_goes_after_it() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3), large=FakeGroup(0, 3, cpu="16", memory="64Gi"))) as there:
        await there.pod("p", cpu="1500m", memory="3Gi")
        await there.run()
        assert there.cloud.calls == [("increase", "g", 1)]
        assert await there.events("TriggeredScaleUp") == ["pod triggered scale-up: [{g 0->1 (max: 3)}]"]
        assert await there.events("ScaledUpGroup") == [
            "Scale-up: setting group g size to 1 instead of 0 (max: 3)",
            "Scale-up: group g size set to 1 instead of 0 (max: 3)",
        ]
        assert (await there.status())["nodeGroups"][0]["scaleUp"]["status"] == "InProgress"
        await there.run()  # the pod still waits, and its node is on its way
        assert len(there.cloud.calls) == 1
        await there.register("g")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        status = await there.status()
        assert status["clusterWide"]["health"]["nodeCounts"]["registered"]["ready"] == 1
        await there.later(30)
        assert there.cloud.calls == [("increase", "g", 1)]
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)
        assert 'Scale-down: removing empty node "g-0"' in await there.events("ScaleDownEmpty")
        text = Exposition()
        there.autoscaler.metrics.write(text)
        assert b"cluster_autoscaler_scaled_up_nodes_total 1\n" in text.render()


async def test_pods_are_moved_before_their_node_goes() -> None:
    async with world(FakeCloud(g=FakeGroup(1, 3, 2))) as there:
        there.cloud.give("g", 2)
        await there.register("g")
        await there.pod("p", "g-0", cpu="500m")
        await there.pod("q", "g-1", cpu="1200m")
        await there.run()
        assert (await there.status())["clusterWide"]["scaleDown"]["candidates"] == 1
        await eventually(
            lambda: any(
                t["key"].startswith("DeletionCandidate") for t in there.autoscaler.cluster.nodes["g-0"].taints
            )
        )
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)
        assert [pod["metadata"]["name"] for pod in (await there.client.list(PODS, "default")).items] == ["q"]
        node = await there.client.get(NODES, "g-0")
        assert node["spec"]["unschedulable"]
        assert await there.events("ScaleDown")


async def test_pods_that_should_be_gone_do_not_keep_a_node_whose_kubelet_is_silent() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1)), "--scale-down-unready-time=60s") as there:
        there.cloud.give("g")
        await there.register("g", ready=False)
        await there.pod("p", "g-0", cpu="1500m", terminationGracePeriodSeconds=5)
        await there.run()
        await there.client.delete(PODS, "p", "default")  # nobody ends it
        await there.run()
        await there.later(61)
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)


@pytest.mark.parametrize(
    "key", ["example.com/driver", "starts.example.com/agent", "node.kubernetes.io/network-unavailable"]
)
async def test_a_node_that_only_starts_is_waited_for(key: str) -> None:
    """It takes no pods yet, which is no reason for another one."""
    flags = ("--startup-taint=example.com/driver", "--startup-taint-prefix=starts.example.com/")
    async with world(FakeCloud(g=FakeGroup(0, 3)), *flags) as there:
        await there.pod("p", cpu="1500m")
        await there.run()
        await there.register("g")
        taint = {"key": key, "effect": "NoSchedule"}
        await there.client.patch(NODES, "g-0", {"spec": {"taints": [taint]}})
        await eventually(lambda: not there.autoscaler.cluster.nodes["g-0"].ready)
        await there.run()
        await there.later(60)
        assert there.cloud.calls == [("increase", "g", 1)]
        counts = (await there.status())["clusterWide"]["health"]["nodeCounts"]["registered"]
        assert (counts["ready"], counts["notStarted"]) == (0, 1)
        # A taint that is none of these is another matter: later nodes have it as well.
        await there.client.patch(NODES, "g-0", {"spec": {"taints": [{**taint, "key": "example.com/other"}]}})
        await eventually(lambda: there.autoscaler.cluster.nodes["g-0"].ready)
        await there.run()
        text = "pod didn't trigger scale-up: 1 node(s) had untolerated taint(s)"
        assert await there.events("NotTriggerScaleUp") == [text]


async def test_a_node_is_kept_while_somebody_wants_it_to_be() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1))) as there:
        there.cloud.give("g")
        await there.register("g")
        key = "delay-deletion.cluster-autoscaler.kubernetes.io/volumes"
        await there.client.patch(NODES, "g-0", {"metadata": {"annotations": {key: "x"}}})
        await there.run()
        await there.later(61)
        await eventually(lambda: there.autoscaler.cluster.nodes["g-0"].deleting)
        await there.run()
        assert there.cloud.calls == [] and list(there.autoscaler.actuator.going) == ["g-0"]
        await there.client.patch(NODES, "g-0", {"metadata": {"annotations": {key: None}}})
        await eventually(lambda: there.cloud.calls == [("delete", "g", ["fake://g-0"])])


@pytest.mark.parametrize("local", [False, True])
async def test_a_group_that_grew_rests_alone_if_a_flag_says_so(local: bool) -> None:
    cloud = FakeCloud(small=FakeGroup(0, 3, 1), large=FakeGroup(0, 3, cpu="16", memory="64Gi"))
    flags = (f"--scale-down-delay-type-local={local}", "--scale-down-delay-after-add=200s")
    async with world(cloud, *flags) as there:
        cloud.give("small")
        await there.register("small")
        await there.run()
        await there.pod("p", cpu="8")
        await there.run()
        assert cloud.calls == [("increase", "large", 1)]
        await there.register("large")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        await there.later(61)
        small, large = ("delete", "small", ["fake://small-0"]), ("delete", "large", ["fake://large-1"])
        await eventually(lambda: (small in cloud.calls) is local and not there.autoscaler.actuator.going)
        await there.later(140)
        await eventually(lambda: (large in cloud.calls) is not local and not there.autoscaler.actuator.going)
        await there.later(61)  # in a group that rests no node's time begins
        await eventually(lambda: small in cloud.calls and large in cloud.calls)


async def test_nobody_keeps_a_node_for_ever() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1)), "--node-deletion-delay-timeout=30s") as there:
        there.cloud.give("g")
        await there.register("g")
        key = "delay-deletion.cluster-autoscaler.kubernetes.io/volumes"
        await there.client.patch(NODES, "g-0", {"metadata": {"annotations": {key: "x"}}})
        await there.run()
        await there.later(61)
        await eventually(lambda: there.autoscaler.cluster.nodes["g-0"].deleting)
        await there.run()
        assert there.cloud.calls == []
        there.clock.seconds += 31
        await eventually(lambda: there.cloud.calls == [("delete", "g", ["fake://g-0"])])


@pytest.mark.parametrize(("seconds", "kept"), [(0, False), (100, True), (20, False)])
async def test_what_an_autoscaler_before_this_one_found_out(seconds: int, kept: bool) -> None:
    """A node that was not needed for a while goes as soon as if nothing had begun anew, if a flag says so."""
    async with world(FakeCloud(g=FakeGroup(0, 3, 1)), f"--node-deletion-candidate-ttl={seconds}s") as there:
        there.cloud.give("g")
        await there.register("g")
        moment = str(int(there.clock.now() - 50))
        taint = {"key": "DeletionCandidateOfClusterAutoscaler", "value": moment, "effect": "PreferNoSchedule"}
        await there.client.patch(NODES, "g-0", {"spec": {"taints": [taint]}})
        await eventually(lambda: there.autoscaler.cluster.nodes["g-0"].taints)
        await there.autoscaler.repairs.clean_up()
        assert bool((await there.client.get(NODES, "g-0"))["spec"].get("taints")) is kept
        await there.run()
        await there.later(15)
        await eventually(lambda: bool(there.cloud.calls) is kept)


async def test_why_nothing_helps_is_told_once() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3), full=FakeGroup(0, 0))) as there:
        await there.pod("p", cpu="3")
        await there.run()
        await there.run()
        expected = ["pod didn't trigger scale-up: 1 Insufficient cpu, 1 max node group size reached"]
        assert await there.events("NotTriggerScaleUp") == expected
        events = [
            event
            for event in (await there.client.list(EVENTS)).items
            if event["reason"] == "NotTriggerScaleUp"
        ]
        assert [event["count"] for event in events] == [1]


async def test_a_group_that_fails_rests_and_another_helps() -> None:
    cloud = FakeCloud(
        bad=FakeGroup(0, 3, failure="no machines left"), good=FakeGroup(0, 3, cpu="4", memory="8Gi")
    )
    async with world(cloud) as there:
        await there.pod("p", cpu="1500m", memory="3Gi")
        assert await there.run() == 0.0  # it goes on at once
        await there.run()
        assert cloud.calls == [("increase", "bad", 1), ("increase", "good", 1)]
        assert await there.events("FailedToScaleUpGroup") == [
            "Scale-up failed for group bad: no machines left"
        ]
        state = (await there.status())["nodeGroups"][0]["scaleUp"]
        assert (state["status"], state["backoffInfo"]["errorCode"]) == ("Backoff", "cloudProviderError")
        for _ in range(3):
            await there.later(60)
        assert [call for call in cloud.calls if call[1] == "bad"] == [("increase", "bad", 1)]


async def test_machines_that_never_become_nodes_are_given_back() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3))) as there:
        await there.pod("p")
        await there.run()
        await there.run()  # the machine is seen, and no node of it
        await there.later(890)
        assert there.cloud.calls == [("increase", "g", 1)]
        await there.later(20)
        assert ("delete", "g", ["fake://g-0"]) in there.cloud.calls
        assert await there.events("DeleteUnregistered") == ["Removed unregistered node fake://g-0"]
        assert len(await there.events("ScaleUpTimedOut")) == 1
        await there.later(10)  # in back-off: nothing flaps
        assert [call[0] for call in there.cloud.calls].count("increase") == 1
        assert (await there.status())["nodeGroups"][0]["scaleUp"]["backoffInfo"]["errorCode"] == "timeout"


async def test_a_cloud_that_gives_too_few_is_told_to_want_fewer() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 5, arrives=False))) as there:
        for number in range(3):
            await there.pod(f"p{number}", cpu="2")
        await there.run()
        assert there.cloud.calls == [("increase", "g", 3)]
        there.cloud.give("g", 1)
        await there.register("g")
        await there.later(901)
        assert ("decrease", "g", -2) in there.cloud.calls
        assert not [call for call in there.cloud.calls if call[0] == "delete"]  # the one that came stays
        assert there.cloud.groups["g"].target == 1


async def test_machines_that_cannot_be_made_are_deleted_and_the_group_rests() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, arrives=False))) as there:
        await there.pod("p")
        await there.run()
        there.cloud.groups["g"].instances.append(Instance("fake://broken", CREATING, "QUOTA", "too many", 1))
        await there.run()
        assert ("delete", "g", ["fake://broken"]) in there.cloud.calls
        text = "Failed adding 1 nodes to group g due to OutOfResource.QUOTA; source errors: too many"
        assert await there.events("ScaleUpFailed") == [text]
        await there.later(60)
        assert [call[0] for call in there.cloud.calls].count("increase") == 1


async def test_a_forgotten_machine_costs_no_node() -> None:
    """The cloud forgets a machine that still is a ready node with pods: nobody is moved, nothing is deleted."""
    async with world(FakeCloud(g=FakeGroup(0, 3, 2))) as there:
        there.cloud.give("g", 2)
        await there.register("g")
        await there.pod("p", "g-0", cpu="1500m")
        await there.pod("q", "g-1", cpu="1500m")
        await there.run()
        there.cloud.groups["g"].instances.pop()
        await there.later(300)
        await there.later(300)
        assert there.cloud.calls == []


async def test_a_cloud_that_is_down_changes_nothing() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3))) as there:
        await there.pod("p")
        there.cloud.down = "out of order"
        with pytest.raises(CloudError):
            await there.run()
        assert await there.autoscaler._pass_safely() == 10.0
        there.cloud.down = ""
        await there.run()
        assert there.cloud.calls == [("increase", "g", 1)]


async def test_a_slow_cloud_is_waited_for_and_asked_once() -> None:
    cloud = FakeCloud(g=FakeGroup(0, 3, arrives=False))
    async with world(cloud, "--max-startup-time=600s") as there:
        await there.pod("p")
        autoscaler = there.autoscaler
        cloud.answers.clear()
        slow = asyncio.create_task(autoscaler._pass_safely())
        await eventually(lambda: autoscaler.liveness._began is not None)
        there.clock.seconds += 601
        assert autoscaler.liveness.check() == "last activity more than 600s ago"
        cloud.answers.set()
        await slow
        assert autoscaler.liveness.check() is None
        assert cloud.calls == [("increase", "g", 1)]
        for _ in range(4):  # the machine takes its time, which is no reason for another
            await there.later(200)
        assert cloud.calls == [("increase", "g", 1)]
        cloud.give("g", 1)
        await there.later(50)
        await there.register("g")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        assert cloud.calls == [("increase", "g", 1)]
        assert await there.events("ScaleUpTimedOut") == []


async def test_a_kubelet_that_names_another_machine_as_its_own_costs_nobody_theirs() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1))) as there:
        there.cloud.give("g", 1)
        await there.register("g")
        await there.pod("p", "g-0", cpu="1500m")
        thief = fakes.node("thief", group="g", provider_id="fake://g-0")
        del thief["metadata"]["creationTimestamp"]
        await there.client.create(NODES, thief)
        await there.client.patch_status(NODES, "thief", {"status": thief["status"]})
        await there.client.patch(NODES, "thief", {"spec": {"taints": None}})
        await eventually(lambda: (node := there.autoscaler.cluster.nodes.get("thief")) and node.ready)
        await there.run()
        assert there.autoscaler.groups.contested == {"g-0", "thief"}
        assert there.autoscaler.groups.states["g"].nodes == ["g-0"]
        await there.later(61)
        await there.later(61)
        assert there.cloud.calls == []  # it is empty, and would be gone otherwise, with the machine of g-0
        await there.client.delete(NODES, "thief")
        await there.client.delete(PODS, "p", "default", grace=0)
        await there.run()
        await there.later(61)
        await eventually(lambda: ("delete", "g", ["fake://g-0"]) in there.cloud.calls)


async def test_groups_that_have_the_same_machine_are_left_alone() -> None:
    async with world(
        FakeCloud(g=FakeGroup(0, 3, 1), h=FakeGroup(0, 3, 1), i=FakeGroup(0, 3, cpu="4"))
    ) as there:
        there.cloud.give("g", 1)
        there.cloud.groups["h"].instances = list(there.cloud.groups["g"].instances)
        await there.register("g")
        await there.pod("p", cpu="3")
        await there.run()
        await there.later(61)
        assert {call[1] for call in there.cloud.calls} == {"i"}
        assert there.autoscaler.groups.states["h"].error == "the machine fake://g-0 is in g and in h"


async def test_a_status_that_cannot_be_written_keeps_nobody_waiting() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3)), "--namespace=absent") as there:
        await there.pod("p")
        await there.run()
        assert there.cloud.calls == [("increase", "g", 1)]


def test_a_status_has_as_many_groups_as_there_is_room_for() -> None:
    state = ClusterState(Backoffs(300, 1800, 10800), Health())
    groups = {f"g{number}": GroupState(NodeGroup(f"g{number}", 0, 9)) for number in range(2000)}
    groups["g1"].error = "x" * 500_000
    made = status.Status().make(state, groups, {}, False, 1e9)
    read = yaml.safe_load(text := status.text(made))
    assert 900_000 < len(text.encode()) < 1 << 20
    count = len(read["nodeGroups"])
    assert 0 < count < 2000 and read["message"] == f"there is room for {count} of 2000 node groups"
    assert [group["name"] for group in read["nodeGroups"][:2]] == ["g0", "g1"]
    small = status.Status().make(state, {"g0": groups["g0"]}, {}, False, 1e9)
    assert "message" not in yaml.safe_load(status.text(small))


async def test_a_removal_that_fails_leaves_the_node_open() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 3, 1))) as there:
        there.cloud.give("g", 1)
        await there.register("g")
        await there.run()
        there.cloud.groups["g"].failure = "cannot delete"
        await there.later(61)
        await eventually(lambda: not there.autoscaler.actuator.going)
        node = await there.client.get(NODES, "g-0")
        assert not node["spec"].get("unschedulable")
        assert not [taint for taint in node["spec"].get("taints", ()) if "ClusterAutoscaler" in taint["key"]]
        assert await there.events("ScaleDownFailed") == ["failed to delete node: cannot delete"]
        await there.later(61)  # it is left alone for a while
        assert [call[0] for call in there.cloud.calls] == ["delete"]


async def test_a_sick_cluster_is_left_alone() -> None:
    async with world(FakeCloud(g=FakeGroup(0, 9, 5)), "--max-node-startup-time=1s") as there:
        there.cloud.give("g", 5)
        await there.register("g", ready=False)
        await there.pod("p")
        await there.later(5)
        assert there.cloud.calls == []
        assert await there.events("ClusterUnhealthy") == ["Cluster is unhealthy"]
        assert (await there.status())["clusterWide"]["health"]["status"] == "Unhealthy"


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--cloud-provider=gce"], "'gce' is not supported, only externalgrpc is"),
        (["--capacity-quotas-enabled"], "--capacity-quotas-enabled: capacity quotas are not supported"),
        (["--nodes=1:5:group"], "--nodes: the cloud has the sizes of its groups"),
        (["--cores-total=5"], "--cores-total: wrong format"),
        (["--bypassed-scheduler-names=a,b", "--allowed-scheduler-names=b"], "subset of --allowed-scheduler-names: a is not there"),
        (["--salvo-scale-up"], "--salvo-scale-up: one group grows in a pass"),
        (["--estimator=guess"], "unknown estimator: guess"),
        ([], "No config file provided"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(
    flags: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cluster_autoscaler.main(flags) == 1
    assert complaint in capsys.readouterr().err
