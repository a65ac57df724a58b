"""Node IPAM: gives every node its own ranges of pod addresses (``--allocate-node-cidrs``)."""

from __future__ import annotations

import logging
from argparse import Namespace

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import NODES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.control_plane.controllers.node_ipam import cidrs
from pybernetes.control_plane.controllers.node_ipam.cidrs import CidrSet, Exhausted
from pybernetes.lib.flags import Flag
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)


class NodeIpamController(Controller):
    """Works on names of nodes."""

    name = "node-ipam-controller"
    kind = NODES
    workers = 30

    def __init__(self, runtime: Runtime, sets: list[CidrSet]) -> None:
        super().__init__(runtime)
        self._sets = sets
        self._recorder = runtime.recorder("cidrAllocator")
        self._waiting: dict[str, None] = {}  # nodes that found nothing left

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        if new is None:
            self._release(old)  # type: ignore[arg-type]
            return False
        return old is None or old["spec"].get("podCIDRs") != new["spec"].get("podCIDRs")

    async def prepare(self) -> None:
        """Occupy the ranges that nodes have already before any is allocated."""
        for node in self.objects:
            self._occupy(node)

    def _occupy(self, node: Object) -> None:
        for place, cidr in enumerate(node["spec"].get("podCIDRs") or ()):
            if place >= len(self._sets):
                raise ValueError(
                    f"node:{node['metadata']['name']} has an allocated cidr: {cidr} at index:{place} that does not "
                    "exist in cluster cidrs configuration"
                )
            self._sets[place].occupy(cidr)

    def _release(self, node: Object) -> None:
        for place, cidr in enumerate(node["spec"].get("podCIDRs") or ()):
            if place < len(self._sets):
                try:
                    self._sets[place].release(cidr)
                except ValueError as error:
                    log.warning("node %s: %s", node["metadata"]["name"], error)
        waiting, self._waiting = self._waiting, {}
        for name in waiting:
            self.enqueue(name)

    async def reconcile(self, key: str) -> None:
        """Allocate ranges for a node that has none."""
        node = self.objects.get(key)
        if node is None or is_being_deleted(node):
            return
        if node["spec"].get("podCIDRs"):
            self._occupy(node)
            return
        given: list[str] = []
        try:
            for cidr_set in self._sets:
                given.append(cidr_set.allocate())
            await self.client.patch(NODES, key, {"spec": {"podCIDR": given[0], "podCIDRs": given}})
        except BaseException as error:
            for cidr_set, cidr in zip(self._sets, given, strict=False):
                cidr_set.release(cidr)
            if isinstance(error, NotFound):
                return
            if isinstance(error, Exhausted):
                self._report(node, "CIDRNotAvailable")
                self._waiting[key] = None
                log.warning("node %s: %s", key, error)
                return
            if isinstance(error, StatusError):
                self._report(node, "CIDRAssignmentFailed")
            raise

    def _report(self, node: Object, status: str) -> None:
        name = node["metadata"]["name"]
        about = {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {"name": name, "uid": node["metadata"]["uid"]},
        }
        self._recorder.normal(about, status, f"Node {name} status is now: {status}")


def build(runtime: Runtime, options: Namespace) -> NodeIpamController | None:
    """Build the controller; return None unless nodes are to get ranges."""
    if not options.allocate_node_cidrs:
        return None
    if options.cidr_allocator_type != "RangeAllocator":
        raise ValueError(
            f"--cidr-allocator-type {options.cidr_allocator_type} is not supported: only RangeAllocator is"
        )
    return NodeIpamController(runtime, cidrs.sets(options))


CONTROLLER = Descriptor(
    name=NodeIpamController.name,
    aliases=("nodeipam",),
    identity="node-controller",
    flags=(
        Flag("allocate-node-cidrs", False, "give every node a range of pod addresses"),
        Flag("cluster-cidr", "", "the range of all pods, or one of each family"),
        Flag("cidr-allocator-type", "RangeAllocator", "who gives the ranges"),
        Flag("service-cluster-ip-range", "", "the range of services, which nodes do not get"),
        Flag(
            "node-cidr-mask-size", 0, "the size of a node's range: 24 for IPv4 and 64 for IPv6 unless given"
        ),
        Flag("node-cidr-mask-size-ipv4", 0, "the size of a node's IPv4 range in a dual-stack cluster"),
        Flag("node-cidr-mask-size-ipv6", 0, "the size of a node's IPv6 range in a dual-stack cluster"),
    ),
    build=build,
)
