"""Puts right what did not come out as it was wished for: failed machines, machines that never became nodes, taints left behind."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pybernetes.client.errors import StatusError
from pybernetes.control_plane.autoscaler.cluster.cluster import ClusterNode
from pybernetes.control_plane.autoscaler.cluster.cluster_state import TIMEOUT, Deviations
from pybernetes.control_plane.autoscaler.cluster.taint_rules import CANDIDATE, TO_BE_DELETED
from pybernetes.control_plane.autoscaler.provider import CloudError, Instance, NodeReference

if TYPE_CHECKING:
    from pybernetes.control_plane.autoscaler.autoscaler import Autoscaler

log = logging.getLogger(__name__)
_MOST_TEXT = 100


class Repairs:
    """What an autoscaler does about groups besides scaling them for pods."""

    def __init__(self, autoscaler: Autoscaler) -> None:
        self._autoscaler = autoscaler

    async def clean_up(self) -> None:
        """Take the taints off nodes that an autoscaler before this one left behind."""
        own, now = self._autoscaler, self._autoscaler.clock.now()
        for name, node in list(own.cluster.nodes.items()):
            since = _since(node) if not node.deleting else None
            if since is not None and now - own.options.node_deletion_candidate_ttl < since <= now:
                own.planner.since[name] = since  # it goes as soon as if nothing had begun anew
                continue
            if any(taint.get("key") in (TO_BE_DELETED, CANDIDATE) for taint in node.taints):
                about = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": name}}
                try:
                    await own.actuator.untaint(name)
                except (StatusError, OSError) as error:
                    own.recorder.warning(
                        about, "ClusterAutoscalerCleanup", f"failed to clean toBeDeletedTaint: {error}"
                    )
                else:
                    own.recorder.normal(
                        about, "ClusterAutoscalerCleanup", "removed ToBeDeletedTaint taint from node"
                    )

    async def act(self, deviations: Deviations, now: float) -> None:
        """Act on what was found."""
        own = self._autoscaler
        for late in deviations.timed_out:
            own.metrics.count("failed_scale_ups_total", TIMEOUT)
            text = f"Nodes added to group {late.group} failed to register within {late.seconds:g}s"
            own.report("Warning", "ScaleUpTimedOut", text)
            if late.missing:
                try:
                    await own.cloud.decrease_target(late.group, -late.missing)
                except CloudError as error:
                    text = f"Failed to decrease target size for group {late.group} after scale-up timeout: {error}"
                    own.report("Warning", "FailedToRevertScaleUp", text)
        for failure in deviations.failed:
            own.metrics.count("failed_scale_ups_total", failure.code)
            sources = ", ".join(message[:_MOST_TEXT] for message in failure.messages[:3])
            text = f"Failed adding {len(failure.instances)} nodes to group {failure.group} due to {failure.code}; source errors: {sources}"
            own.report("Warning", "ScaleUpFailed", text)
            await self._delete(failure.group, failure.instances, told=False)
        for group, instances in deviations.never_registered.items():
            await self._delete(group, instances, told=True)
        for short in deviations.shortfalls:
            log.warning("decreasing size of %s by %d: its machines never came", short.group, -short.delta)
            try:
                await own.cloud.decrease_target(short.group, short.delta)
            except CloudError as error:
                log.warning("failed to fix the size of %s: %s", short.group, error)

    async def _delete(self, group: str, instances: list[Instance], told: bool) -> None:
        """Delete machines that are of no use, as far as the group's minimum allows."""
        own = self._autoscaler
        state = own.groups.states[group]
        possible = state.target - state.group.minimum
        if possible <= 0:
            log.warning("node group %s min size reached, skipping removal of %d nodes", group, len(instances))
            return
        doomed = instances[:possible]
        references = [NodeReference(instance.id, instance.id) for instance in doomed]
        try:
            await own.cloud.delete_nodes(group, references)
        except CloudError as error:
            for instance in doomed if told else ():
                own.report(
                    "Warning", "DeleteUnregisteredFailed", f"Failed to remove node {instance.id}: {error}"
                )
            log.warning("failed to remove machines of %s: %s", group, error)
            return
        state.target -= len(doomed)
        gone = {instance.id for instance in doomed}
        state.instances = [instance for instance in state.instances if instance.id not in gone]
        for instance in doomed if told else ():
            own.report("Normal", "DeleteUnregistered", f"Removed unregistered node {instance.id}")
        if told:
            own.metrics.count("old_unregistered_nodes_removed_count", amount=len(doomed))

    async def enforce_minimum(self, now: float) -> None:
        """Give groups their minimum, if a flag says so."""
        own = self._autoscaler
        if not own.options.enforce_node_group_min_size:
            return
        for state in own.groups.states.values():
            lacking = state.group.minimum - state.target
            if (
                lacking > 0
                and own.state.group_is_healthy(state)
                and own.state.backoffs.of(state.id, now) is None
            ):
                await own.scale_up.grow(state, lacking)


def _since(node: ClusterNode) -> float | None:
    """Return since when a node has the soft taint."""
    values = [taint.get("value") or "" for taint in node.taints if taint.get("key") == CANDIDATE]
    return float(values[0]) if values and values[0].isascii() and values[0].isdecimal() else None
