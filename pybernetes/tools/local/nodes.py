"""Adds, removes, stops and starts nodes of a local cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pybernetes.node.containerd.requirements import check_programs
from pybernetes.tools.local import draining, lifecycle, network, node_group, node_registration
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.node import Node
from pybernetes.tools.local.paths import Cluster


def add(
    cluster: Cluster, labels: Mapping[str, str] = MappingProxyType({}), taints: Sequence[str] = ()
) -> str:
    """Add a node with real containers, and return its name."""
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
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        node = settings.node(name)
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
    """Stop a node; the cluster sees it as lost."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        settings.change(settings.node(name), stopped=True)
        lifecycle.refresh(cluster, settings)
        lifecycle.wait_for_end(cluster, f"containerd-{name}")
        Node(cluster, name).clear()


def start(cluster: Cluster, name: str) -> None:
    """Start a node that was stopped."""
    with lifecycle.locked(cluster):
        settings = saved_settings.load(cluster)
        node = settings.node(name)
        settings.change(node, stopped=False)
        lifecycle.prepare(cluster, settings, node)
        lifecycle.refresh(cluster, settings)


def shell(cluster: Cluster, name: str, command: list[str]) -> list[str]:
    """Return the command line of a shell, or of another command, inside of a node."""
    settings = saved_settings.load(cluster)
    node = Node(cluster, settings.node(name).name)
    endpoint = f"unix://{node.containerd.socket}"
    environment = [
        f"CONTAINER_RUNTIME_ENDPOINT={endpoint}",
        f"CONTAINERD_ADDRESS={node.containerd.socket}",
        "CONTAINERD_NAMESPACE=k8s.io",
    ]
    namespace = network.namespace(cluster.name, name)
    inside = [] if settings.host_network else ["nsenter", f"--net=/run/netns/{namespace}", "--"]
    return ["env", *environment, *inside, *(command or ["bash"])]
