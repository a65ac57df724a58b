"""Adds and removes nodes of a local cluster, and does to them what happens to machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pybernetes.node.containerd.requirements import check_programs
from pybernetes.tools.local import lifecycle
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.network import network, partition
from pybernetes.tools.local.nodes import draining, node_group, node_registration, slow_disk
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster


def add(
    cluster: Cluster,
    labels: Mapping[str, str] = MappingProxyType({}),
    taints: Sequence[str] = (),
    role: str = "",
) -> str:
    """Add a node with real containers, and return its name."""
    if saved_settings.load(cluster).control_planes:
        from pybernetes.tools.local.control_planes import membership

        if labels or taints:
            raise saved_settings.SettingsError(
                "machines that kubeadm installs get labels and taints by kubectl"
            )
        return membership.add(cluster, role)
    if role:
        raise saved_settings.SettingsError(
            "a control plane can be added to a cluster with --control-planes only"
        )
    node_group.check_labels(labels)
    for taint in taints:
        node_group.read_taint(taint)
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        check_room(settings)
        node = saved_settings.new_node(cluster.name, settings.nodes, labels=dict(labels), taints=list(taints))
        settings.nodes.append(node)
        lifecycle.prepare(cluster, settings, node)
        lifecycle.refresh(cluster, settings)
        return node.name


def check_room(settings: saved_settings.Settings) -> None:
    """Raise SettingsError if the cluster can have no further nodes with real containers."""
    if settings.host_network:
        raise saved_settings.SettingsError("on the host's network there is room for one node only")
    if not settings.node_range:
        raise saved_settings.SettingsError(
            "this cluster has no network for real nodes: its API server serves this machine alone; "
            "make a cluster with pyb up --nodes 1"
        )
    check_programs()


def remove(cluster: Cluster, name: str) -> None:
    """Stop a node, delete its Node object and remove all that it made."""
    if saved_settings.load(cluster).control_planes:
        from pybernetes.tools.local.control_planes import membership

        membership.remove(cluster, name)
        return
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        node = settings.node(name)
        if node.paused:
            Node(cluster, name).machine.resume()
        draining.leave_balancers(cluster, settings, [name])
        settings.nodes.remove(node)
        lifecycle.refresh(cluster, settings)
        take_away(cluster, name)


def take_away(cluster: Cluster, name: str) -> None:
    """Remove all that a node made, which the settings have no more."""
    lifecycle.wait_for_end(cluster, f"containerd-{name}")
    Node(cluster, name).remove()
    node_registration.forget(cluster, name)


def stop(cluster: Cluster, name: str) -> None:
    """Take a node away as a power cut does: its network is silent, and everything on it ends without a word."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        settings.change(settings.node(name), stopped=True, paused=False)
        saved_settings.save(cluster, settings)
        node = Node(cluster, name, settings.host_network)
        network.cut_link(
            cluster.name, name
        )  # first, or the kernel would say for its processes that they ended
        node.machine.kill()
        lifecycle.refresh(cluster, settings)
        lifecycle.wait_for_end(cluster, f"containerd-{name}")
        node.clear()
        network.remove_node(cluster.name, name)


def start(cluster: Cluster, name: str) -> None:
    """Start a node that was stopped, or let one go on that was paused."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        node = settings.node(name)
        settings.change(node, stopped=False, paused=False)
        if node.stopped:
            lifecycle.prepare(cluster, settings, settings.node(name))
            lifecycle.refresh(cluster, settings)
        else:
            Node(cluster, name).machine.resume()
            saved_settings.save(cluster, settings)


def pause(cluster: Cluster, name: str) -> None:
    """Hold everything on a node, containers too: connections to it stay open, and nobody answers."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        node = settings.node(name)
        if node.stopped:
            raise saved_settings.SettingsError(f"the node {name} is stopped")
        settings.change(node, paused=True)
        saved_settings.save(cluster, settings)
        Node(cluster, name).machine.pause()


def cut_off(cluster: Cluster, name: str, others: Sequence[str] = ()) -> None:
    """Cut a node off from others, or from everybody."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        partition.check(settings, name, others)
        node = settings.node(name)
        settings.change(node, apart=sorted({*node.apart, *(others or [partition.ALL])}))
        saved_settings.save(cluster, settings)
        partition.apply(cluster, settings)


def heal(cluster: Cluster, name: str) -> None:
    """Undo what cuts a node off from others, or others from it, and let its disk be as fast as it is."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        before = settings.node(name)
        settings.change(before, apart=[], disk_operations=0)
        for node in list(settings.nodes):
            settings.change(node, apart=[other for other in node.apart if other != name])
        saved_settings.save(cluster, settings)
        if not settings.host_network:
            partition.apply(cluster, settings)
        if before.disk_operations and not before.stopped:
            slow_disk.limit(Node(cluster, name).machine, 0)


def slow_down(cluster: Cluster, name: str, operations: int) -> None:
    """Let a node's disk do no more than so many operations in a second."""
    if operations < 1:
        raise saved_settings.SettingsError("a disk does at least one operation in a second")
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        slow_disk.limit(Node(cluster, settings.node(name).name).machine, operations)
        settings.change(settings.node(name), disk_operations=operations)
        saved_settings.save(cluster, settings)


def shell(cluster: Cluster, name: str, command: list[str]) -> list[str]:
    """Return the command line of a shell, or of another command, inside of a node."""
    settings = saved_settings.load(cluster)
    node = Node(cluster, settings.node(name).name, settings.host_network)
    environment = [
        f"CONTAINER_RUNTIME_ENDPOINT=unix://{node.containerd.socket}",
        f"CONTAINERD_ADDRESS={node.containerd.socket}",
        "CONTAINERD_NAMESPACE=k8s.io",
    ]
    return ["env", *environment, *node.machine.command(*(command or ["bash"]))]
