"""Cloud node: gives new nodes what the cloud knows of them, and keeps their addresses up to date."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import NODES
from pybernetes.control_plane.cloud.controllers._shared import cloud_of
from pybernetes.control_plane.cloud.controllers.cloud_node import initialization
from pybernetes.control_plane.cloud.provider import CloudError, InstanceMetadata, Instances
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.controller_manager.descriptor import Descriptor
from pybernetes.runtime.metrics import Histogram
from pybernetes.runtime.runtime import Runtime

_DELAYS = tuple(4.0**power for power in range(6))
_FAMILIES = {
    "node_controller_cloud_provider_taint_removal_delay_seconds": "Number of seconds after node creation when NodeController removed the cloud-provider taint of a single node.",
    "node_controller_initial_node_sync_delay_seconds": "Number of seconds after node creation when NodeController finished the initial synchronization of a single node.",
}


class CloudNodeController(Controller):
    """Works on names of nodes."""

    name = "cloud-node-controller"
    kind = NODES

    def __init__(self, runtime: Runtime, instances: Instances, options: Namespace) -> None:
        self._instances = instances
        self._calls = cloud_of(options)[1]
        self._every = options.node_status_update_frequency
        updates = options.concurrent_node_status_updates or options.concurrent_node_syncs
        self._new = asyncio.Semaphore(options.concurrent_node_syncs)
        self._known = asyncio.Semaphore(updates)
        self.workers = options.concurrent_node_syncs + updates
        self._looked: dict[str, float] = {}  # when the cloud was last asked about a node
        self._delays = {name: Histogram(_DELAYS) for name in _FAMILIES}
        super().__init__(runtime)
        self._recorder = runtime.recorder("cloud-node-controller")
        runtime.metrics.more.append(self._write)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            self._looked.pop((old or {})["metadata"]["name"], None)
            return False
        if old is None:
            return True
        meta, before = new["metadata"], old["metadata"]
        return (
            initialization.is_uninitialized(new)
            or meta.get("labels") != before.get("labels")
            or meta.get("annotations") != before.get("annotations")
        )

    async def reconcile(self, key: str) -> float | None:
        """Initialize a node that waits for it; look at the addresses of others from time to time."""
        node = self.objects.get(key)
        if node is None:
            return None
        if initialization.is_uninitialized(node):
            async with self._new:
                await self._initialize(node)
            self._looked[key] = self.clock.monotonic()
            return self._every
        labels = initialization.older_labels(node["metadata"].get("labels") or {})
        if labels:
            await self.client.patch(NODES, key, {"metadata": {"labels": labels}})
        wait = self._looked.get(key, float("-inf")) + self._every - self.clock.monotonic()
        if wait > 0:
            return wait
        self._looked[key] = self.clock.monotonic()
        async with self._known:
            metadata = await self._calls.ask("instance_metadata", self._instances.metadata(node))
            if metadata is not None:
                await self._write_addresses(node, metadata)
        return self._every

    async def _initialize(self, node: Object) -> None:
        name = node["metadata"]["name"]
        metadata = await self._calls.ask("instance_metadata", self._instances.metadata(node))
        if metadata is None:
            return  # not a node of this cloud
        if not metadata.provider_id and not node["spec"].get("providerID"):
            raise CloudError(f"cloud provider does not set node provider ID for node {name}")
        # Addresses first: a node without its taint is complete.
        await self._write_addresses(node, metadata)
        try:
            await self.client.modify(NODES, name, "", lambda node: initialization.initialize(node, metadata))
        except NotFound:
            return
        age = max(0.0, self.clock.now() - rfc3339.parse(node["metadata"]["creationTimestamp"]))
        for delay in self._delays.values():
            delay.observe(age)
        self._recorder.normal(node, "Synced", "Node synced successfully")

    async def _write_addresses(self, node: Object, metadata: InstanceMetadata) -> None:
        addresses = initialization.addresses_of(node, metadata)
        if addresses is None or addresses == ((node.get("status") or {}).get("addresses") or []):
            return
        # A list merged by key: what is gone has to be named.
        patch = {"status": {"addresses": [*addresses, {"$patch": "replace"}]}}
        try:
            await self.client.patch_status(NODES, node["metadata"]["name"], patch)
        except NotFound:
            pass

    def _write(self, text: Exposition) -> None:
        for name, help_ in _FAMILIES.items():
            delay = self._delays[name]
            text.family(name, "histogram", help_)
            text.histogram(name, (), delay)


def build(runtime: Runtime, options: Namespace) -> CloudNodeController | None:
    """Build the loop; return None if the cloud has no instances."""
    instances = cloud_of(options)[0].instances
    if options.concurrent_node_syncs < 1:
        raise ValueError("concurrent-node-syncs must be a positive number")
    if options.concurrent_node_status_updates < 0:
        raise ValueError("concurrent-node-status-updates cannot be a negative number")
    return CloudNodeController(runtime, instances, options) if instances is not None else None


CONTROLLER = Descriptor(
    name=CloudNodeController.name,
    aliases=("cloud-node",),
    identity="node-controller",
    flags=(
        Flag("node-status-update-frequency", Seconds(300), "how often the cloud is asked for the addresses of a node"),
        Flag("concurrent-node-syncs", 1, "how many new nodes are worked on at once"),
        Flag("concurrent-node-status-updates", 0, "how many other nodes; 0: as many as new ones"),
    ),
    build=build,
)  # fmt: skip
