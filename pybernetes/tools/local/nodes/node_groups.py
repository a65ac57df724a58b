"""Makes, scales and deletes groups of nodes of a local cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from pybernetes.tools.local import lifecycle
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.nodes import draining, node_group, node_registration, nodes
from pybernetes.tools.local.nodes.node_group import GroupError
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeGroup, Settings

PATIENCE = 30.0  # seconds that a program waits for another command's end; people are told at once


def _nothing() -> None:
    pass


class GroupState(NamedTuple):
    """A group and the nodes that it has."""

    group: NodeGroup
    nodes: list[str]


def states(cluster: Cluster) -> list[GroupState]:
    """Return the groups of a cluster."""
    settings = saved_settings.load(cluster)
    return [GroupState(group, settings.members(group)) for group in settings.node_groups]


def create(cluster: Cluster, group: NodeGroup) -> list[str]:
    """Add a group, and return the nodes that it begins with."""
    group = node_group.checked(group)
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        if any(other.name == group.name for other in settings.node_groups):
            raise GroupError(f"there is a node group {group.name!r} already")
        if not group.hollow:
            nodes.check_room(settings)
            node_registration.check_resources(group)
        settings.node_groups.append(group)
        return _grow(cluster, settings, group, group.size)


def delete(cluster: Cluster, name: str) -> None:
    """Remove a group with its nodes."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        group = settings.group(name)
        members = settings.members(group)
        settings = replace(settings, node_groups=[other for other in settings.node_groups if other != group])
        _shrink(cluster, settings, members)


def scale(cluster: Cluster, name: str, size: int) -> None:
    """Give a group as many nodes as it is to have; the newest go first."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        group = settings.group(name)
        node_group.check_size(group, size)
        members = settings.members(group)
        if size > len(members):
            _grow(cluster, settings, group, size - len(members))
        else:
            _shrink(cluster, settings, members[size:])


def grow(cluster: Cluster, name: str, count: int, saved: Callable[[], None] = _nothing) -> list[str]:
    """Add nodes to a group, and return their names; GroupError beyond its maximum.

    ``saved`` is called as soon as the group has its new size, while nodes are still being made.
    """
    with lifecycle.locked(cluster, PATIENCE):
        settings = saved_settings.load(cluster)
        group = settings.group(name)
        node_group.check_size(group, max(len(settings.members(group)) + count, group.minimum))
        return _grow(cluster, settings, group, count, saved)


def shrink(cluster: Cluster, name: str, names: Iterable[str], saved: Callable[[], None] = _nothing) -> None:
    """Remove certain nodes of a group; GroupError if one is not in it, or below its minimum."""
    gone = set(names)
    with lifecycle.locked(cluster, PATIENCE):
        settings = saved_settings.load(cluster)
        group = settings.group(name)
        members = settings.members(group)
        strangers = sorted(gone - set(members))
        if strangers:
            raise GroupError(f"{strangers[0]} is not in the node group {name}")
        node_group.check_size(group, len(members) - len(gone))
        _shrink(cluster, settings, [member for member in members if member in gone], saved)


def _grow(
    cluster: Cluster, settings: Settings, group: NodeGroup, count: int, saved: Callable[[], None] = _nothing
) -> list[str]:
    added: list[str] = []
    before = settings
    for _ in range(count):
        settings, name = node_group.grown(cluster.name, settings, group)
        added.append(name)
    saved_settings.save(cluster, settings)
    saved()
    try:
        for name in () if group.hollow else added:
            lifecycle.prepare(cluster, settings, settings.node(name))
    except BaseException:
        saved_settings.save(cluster, before)
        raise
    runs = bool(lifecycle.running_processes(cluster))
    lifecycle.refresh(cluster, settings)
    if runs:  # otherwise the next `up` does it
        node_registration.register(cluster, settings, added)
    return added


def _shrink(
    cluster: Cluster, settings: Settings, names: Iterable[str], saved: Callable[[], None] = _nothing
) -> None:
    real = {node.name for node in settings.nodes}
    gone = list(names)
    draining.leave_balancers(cluster, settings, gone)
    for name in gone:
        settings = node_group.shrunk(settings, name)
    lifecycle.refresh(cluster, settings)
    saved()
    for name in gone:
        if name in real:
            nodes.take_away(cluster, name)
        else:
            node_registration.forget(cluster, name)
