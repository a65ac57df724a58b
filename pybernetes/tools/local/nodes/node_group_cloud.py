"""The node groups of a local cluster as a cloud that an autoscaler drives."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Sequence

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.provider import (
    RUNNING,
    CloudError,
    GroupOptions,
    Instance,
    NodeGroup,
    NodeReference,
    NotImplementedByCloud,
)
from pybernetes.lib.oci import architecture
from pybernetes.tools.local.nodes import node_groups, node_registration
from pybernetes.tools.local.nodes.node_group import node_object, provider_id
from pybernetes.tools.local.nodes.node_groups import GroupState
from pybernetes.tools.local.paths import Cluster


class NodeGroupCloud:
    """One cluster's groups. Machines are made and removed by threads, one command at a time; sizes change at once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._work: set[asyncio.Task[None]] = set()

    def _states(self) -> dict[str, GroupState]:
        try:
            return {state.group.name: state for state in node_groups.states(self._cluster)}
        except (OSError, ValueError) as error:
            raise CloudError(f"the settings of {self._cluster.name} cannot be read: {error}") from None

    def _state(self, name: str) -> GroupState:
        state = self._states().get(name)
        if state is None:
            raise CloudError(f"there is no node group {name!r}")
        return state

    async def refresh(self) -> None:
        """Do nothing: the settings are read for each answer."""

    async def node_groups(self) -> list[NodeGroup]:
        """Return the groups."""
        return [
            NodeGroup(group.name, group.minimum, group.maximum, f"{group.name} ({len(names)} nodes)")
            for group, names in self._states().values()
        ]

    async def group_of(self, node: NodeReference) -> str:
        """Return the group that has a node."""
        for group, names in self._states().values():
            if self._name(node) in names:
                return group.name
        return ""

    def _name(self, node: NodeReference) -> str:
        """Return the name of a machine; CloudError for a node that says to be another's."""
        prefix = provider_id(self._cluster.name, "")
        name = node.provider_id.removeprefix(prefix) if node.provider_id.startswith(prefix) else node.name
        if node.name not in (name, node.provider_id):
            raise CloudError(f"the node {node.name} says that it is {name}")
        return name

    async def target_size(self, group: str) -> int:
        """Return how many nodes a group has, those that are being made included."""
        return len(self._state(group).nodes)

    async def instances(self, group: str) -> list[Instance]:
        """Return the nodes of a group."""
        return [Instance(provider_id(self._cluster.name, name), RUNNING) for name in self._state(group).nodes]

    async def template(self, group: str) -> Object:
        """Return the Node that the next one of a group would be."""
        settings, name = self._state(group).group, f"{group}-template"
        if settings.hollow:
            return node_registration.hollow_object(settings, self._cluster.name, name)
        system = {"os": platform.system().lower(), "arch": architecture()}
        usual = {
            f"{domain}kubernetes.io/{key}": value for domain in ("", "beta.") for key, value in system.items()
        }
        node = node_object(settings, self._cluster.name, name, usual)
        capacity = node_registration.machine()
        left = {**capacity, **node_registration.allocatable(capacity), **settings.resources}
        return {**node, "status": {"capacity": capacity, "allocatable": left}}

    async def options(self, group: str, defaults: GroupOptions) -> GroupOptions:
        """Return the autoscaler's own options: groups have none."""
        return defaults

    async def increase(self, group: str, delta: int) -> None:
        """Add nodes to a group; the answer comes once its size is changed."""
        await self._until_saved(lambda saved: node_groups.grow(self._cluster, group, delta, saved))

    async def delete_nodes(self, group: str, nodes: Sequence[NodeReference]) -> None:
        """Remove nodes of a group."""
        names = [self._name(node) for node in nodes]
        await self._until_saved(lambda saved: node_groups.shrink(self._cluster, group, names, saved))

    async def decrease_target(self, group: str, delta: int) -> None:
        """Refuse: a group has all nodes that it is to have."""
        raise CloudError(f"the group {group} has no nodes that are still to come")

    async def node_price(self, node: NodeReference, seconds: float) -> float:
        """Refuse: this machine is paid for."""
        raise NotImplementedByCloud("nodes of this machine have no price")

    async def pod_price(self, pod: Object, seconds: float) -> float:
        """Refuse: this machine is paid for."""
        raise NotImplementedByCloud("pods on this machine have no price")

    async def close(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*self._work, return_exceptions=True)

    async def _until_saved(self, work: Callable[[Callable[[], None]], object]) -> None:
        """Do work in a thread; return when it has changed the settings, while the rest goes on; CloudError if it fails."""
        loop, saved = asyncio.get_running_loop(), asyncio.Event()

        def save() -> None:
            loop.call_soon_threadsafe(saved.set)

        async def run() -> None:
            await asyncio.to_thread(work, save)

        task = asyncio.create_task(run())
        waiting = asyncio.create_task(saved.wait())
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done() and (error := task.exception()) is not None:
            raise CloudError(str(error))
        task.add_done_callback(
            lambda done: done.exception()
        )  # what fails later is seen as a node that does not come
