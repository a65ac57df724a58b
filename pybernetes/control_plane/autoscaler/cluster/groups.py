"""What the cloud says of its groups, asked for all groups at once."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.cluster.cluster import ClusterNode
from pybernetes.control_plane.autoscaler.provider import (
    CloudError,
    CloudProvider,
    GroupOptions,
    Instance,
    NodeGroup,
    NodeReference,
)

log = logging.getLogger(__name__)
_AT_ONCE = 16
_UNKNOWN_SECONDS = 60.0  # for how long an answer about a node of no group is believed


@dataclass
class GroupState:
    """A group: how many machines it is to have, and which there are. ``error`` if the cloud could not say."""

    group: NodeGroup
    target: int = 0
    instances: list[Instance] = field(default_factory=list)
    options: GroupOptions = field(default_factory=GroupOptions)
    error: str = ""
    nodes: list[str] = field(default_factory=list)  # names of the registered ones

    @property
    def id(self) -> str:
        """Its name."""
        return self.group.id


class Groups:
    """The groups of a cloud, as of the last look at them."""

    def __init__(self, cloud: CloudProvider, defaults: GroupOptions) -> None:
        self._cloud, self._defaults = cloud, defaults
        self.states: dict[str, GroupState] = {}
        self.group_by_node: dict[str, str] = {}
        self.contested: set[str] = set()  # nodes whose machine another node says to be as well
        self._templates: dict[str, Object | None] = {}
        self.nodes: dict[str, ClusterNode] = {}  # those that were looked at
        self._strangers: dict[tuple[str, str], tuple[str, float]] = {}

    async def refresh(self, nodes: Mapping[str, ClusterNode], now: float) -> None:
        """Ask the cloud; CloudError if it does not answer at all."""
        await self._cloud.refresh()
        limit = asyncio.Semaphore(_AT_ONCE)

        async def ask(group: NodeGroup) -> GroupState:
            async with limit:
                try:
                    target, instances, options = await asyncio.gather(
                        self._cloud.target_size(group.id),
                        self._cloud.instances(group.id),
                        self._cloud.options(group.id, self._defaults),
                    )
                except CloudError as error:
                    return GroupState(group, error=str(error))
                return GroupState(group, target, instances, options)

        groups = await self._cloud.node_groups()
        self.states = {state.id: state for state in await asyncio.gather(*map(ask, groups))}
        self._refuse_shared()
        self._templates = {name: obj for name, obj in self._templates.items() if name in self.states}
        # As they are now: others come and go while the cloud is asked about some.
        self.nodes = dict(nodes)
        await self._sort(self.nodes, now)

    def _refuse_shared(self) -> None:
        """Leave groups alone that say to have the same machine: what is done to one would be done to the other."""
        owners: dict[str, GroupState] = {}
        for state in self.states.values():
            for instance in state.instances:
                other = owners.setdefault(instance.id, state)
                if other is not state:
                    other.error = state.error = (
                        f"the machine {instance.id} is in {other.id} and in {state.id}"
                    )

    def _claims(self, nodes: Mapping[str, ClusterNode]) -> dict[str, list[str]]:
        """Return the nodes that say to be each machine, the oldest first."""
        claims: dict[str, list[str]] = defaultdict(list)
        for name in sorted(nodes, key=lambda name: (nodes[name].created, name)):
            if nodes[name].provider_id:
                claims[nodes[name].provider_id].append(name)
        return claims

    async def _sort(self, nodes: Mapping[str, ClusterNode], now: float) -> None:
        """Find the group of each node: by its machine's name, or else by asking.

        Kubelets name their machines themselves. Where several name the same one, nobody can tell which is right: the
        first counts, and none of them is removed, since it might be another's machine that goes.
        """
        claims = {machine: names for machine, names in self._claims(nodes).items() if len(names) > 1}
        contested = {name for names in claims.values() for name in names}
        for machine, names in claims.items() if contested != self.contested else ():
            log.warning("several nodes say that they are %s: %s", machine, ", ".join(names[:10]))
        self.contested = contested
        by_instance = {
            instance.id: state.id for state in self.states.values() for instance in state.instances
        }
        self.group_by_node = {}
        strangers = {}
        for name, node in nodes.items():
            if name in contested and claims[node.provider_id][0] != name:
                continue
            group = by_instance.get(node.provider_id) if node.provider_id else None
            if group is None:
                key = (name, node.provider_id)
                known = self._strangers.get(key)
                if known is None or known[1] < now:
                    known = await self._ask(node), now + _UNKNOWN_SECONDS
                strangers[key] = known
                group = known[0]
            if group in self.states:
                self.group_by_node[name] = group
                self.states[group].nodes.append(name)
        self._strangers = strangers

    async def _ask(self, node: ClusterNode) -> str:
        try:
            return await self._cloud.group_of(reference(node))
        except CloudError:
            return ""

    async def template(self, group: str) -> Object | None:
        """Return what the cloud says a new machine of a group would be."""
        if group not in self._templates:
            try:
                self._templates[group] = await self._cloud.template(group)
            except CloudError:
                return None
        return self._templates[group]


def reference(node: ClusterNode) -> NodeReference:
    """Return a node as clouds know it."""
    return NodeReference(node.name, node.provider_id, node.node.labels, node.annotations)
