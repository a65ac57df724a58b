"""Cloud node lifecycle: deletes nodes whose instances are gone, and taints those whose instances are shut down.

A node that is ready is not asked about. One that is not is asked about again and again; only a cloud that knows for
sure that there is no such instance has it deleted.
"""

from __future__ import annotations

from argparse import Namespace

from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, NotFound, StatusError
from pybernetes.client.refs import NODES
from pybernetes.control_plane.cloud.controllers._shared import cloud_of, condition, node_reference, taints
from pybernetes.control_plane.cloud.provider import InstanceNotFound, Instances
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.controller_manager.descriptor import Descriptor
from pybernetes.runtime.metrics import Histogram
from pybernetes.runtime.runtime import Runtime

SHUT_DOWN = "node.cloudprovider.kubernetes.io/shutdown"
_DURATION = "cloud_node_lifecycle_controller_monitor_nodes_duration_seconds"
_BOUNDS = tuple(0.001 * 2.0**power for power in range(15))


def is_ready(node: Object) -> bool:
    """Return whether a node says that it is ready."""
    ready = condition(node, "Ready")
    return ready is not None and ready["status"] == "True"


def is_tainted(node: Object) -> bool:
    """Return whether a node has the taint of an instance that is shut down."""
    return any(taint["key"] == SHUT_DOWN for taint in taints(node))


def set_taint(node: Object, wanted: bool) -> None:
    """Give a node the taint, or take it away."""
    others = [taint for taint in taints(node) if taint["key"] != SHUT_DOWN]
    node["spec"]["taints"] = others + ([{"key": SHUT_DOWN, "effect": "NoSchedule"}] if wanted else [])


class CloudNodeLifecycleController(Controller):
    """Works on names of nodes."""

    name = "cloud-node-lifecycle-controller"
    kind = NODES

    def __init__(self, runtime: Runtime, instances: Instances, options: Namespace) -> None:
        self._instances = instances
        self._calls = cloud_of(options)[1]
        self._period = options.node_monitor_period
        self.workers = options.concurrent_node_lifecycle_syncs
        self.first_delay = self.longest_delay = self._period  # a cloud that fails is asked no more often
        self._seconds = Histogram(_BOUNDS)
        super().__init__(runtime)
        self._recorder = runtime.recorder("cloud-node-lifecycle-controller")
        runtime.metrics.more.append(self._write)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            return False
        return old is None or is_ready(old) != is_ready(new) or is_tainted(old) != is_tainted(new)

    async def reconcile(self, key: str) -> float | None:
        """Look after a node that is not ready; return when to look again."""
        node = self.objects.get(key)
        if node is None or "deletionTimestamp" in node["metadata"]:
            return None
        if is_ready(node):
            if is_tainted(node):
                await self._set_taint(key, False)
            return None
        began = self.clock.monotonic()
        try:
            if not await self._exists(node):
                await self._delete(node)
                return self._period
            if await self._calls.ask("instance_shutdown", self._instances.is_shut_down(node)):
                if not is_tainted(node):
                    await self._set_taint(key, True)
        finally:
            self._seconds.observe(self.clock.monotonic() - began)
        return self._period

    async def _exists(self, node: Object) -> bool:
        try:
            return await self._calls.ask("instance_exists", self._instances.exists(node))
        except InstanceNotFound:
            return False

    async def _delete(self, node: Object) -> None:
        name, about = node["metadata"]["name"], node_reference(node)
        self._recorder.normal(
            about, "DeletingNode", f"Deleting node {name} because it does not exist in the cloud provider"
        )
        try:
            await self.client.delete(NODES, name, uid=node["metadata"]["uid"])
        except (NotFound, Conflict):
            pass  # it is gone, or another node has its name now
        except StatusError as error:
            self._recorder.warning(about, "DeletingNodeFailed", f"Failed deleting node {name}: {error}")
            raise

    async def _set_taint(self, name: str, wanted: bool) -> None:
        try:
            await self.client.modify(NODES, name, "", lambda node: set_taint(node, wanted))
        except NotFound:
            pass

    def _write(self, text: Exposition) -> None:
        text.family(
            _DURATION,
            "histogram",
            "A metric measuring the duration in seconds of a single MonitorNodes loop execution.",
        )
        text.histogram(_DURATION, (), self._seconds)


def build(runtime: Runtime, options: Namespace) -> CloudNodeLifecycleController | None:
    """Build the loop; return None if the cloud has no instances."""
    instances = cloud_of(options)[0].instances
    if options.concurrent_node_lifecycle_syncs < 1:
        raise ValueError(
            f"concurrent-node-lifecycle-syncs must be at least 1, but got {options.concurrent_node_lifecycle_syncs}"
        )
    return CloudNodeLifecycleController(runtime, instances, options) if instances is not None else None


CONTROLLER = Descriptor(
    name=CloudNodeLifecycleController.name,
    aliases=("cloud-node-lifecycle",),
    identity="node-controller",
    flags=(
        Flag(
            "node-monitor-period", Seconds(5), "how often the cloud is asked about a node that is not ready"
        ),
        Flag("concurrent-node-lifecycle-syncs", 1, "how many nodes are looked after at once"),
    ),
    build=build,
)
