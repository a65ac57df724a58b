"""An autoscaler beside a real API server, whose passes a test runs one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import yaml

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import CONFIG_MAPS, EVENTS, NODES, PODS, REPLICA_SETS, Ref
from pybernetes.cmd import cluster_autoscaler
from pybernetes.control_plane.autoscaler.autoscaler import Autoscaler
from pybernetes.tools.local.addons import addons
from tests.cluster import Cluster
from tests.control_plane.autoscaler import fakes
from tests.control_plane.autoscaler.fakes import Ahead, FakeCloud
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

    async def give(self, group: str, count: int = 1, *, ready: bool = True) -> None:
        """Have the cloud make machines of a group, and all of them become nodes."""
        self.cloud.give(group, count)
        await self.register(group, ready)

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
        config_map = await self.client.get(CONFIG_MAPS, "cluster-autoscaler-status", "kube-system")
        return yaml.safe_load(config_map["data"]["status"])


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
