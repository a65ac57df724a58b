"""Which processes a local cluster should be running: a pure function of its settings."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from pybernetes.node.containerd.config import ContainerdPaths
from pybernetes.tools.local.network import network
from pybernetes.tools.local.nodes.machine import Machine
from pybernetes.tools.local.nodes.machine_mounts import PLUGINS
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import ETCD, NodeSettings, Settings

CONTROL_PLANE = "control-plane"
HOST, LINKS = "host", "links"
_LAST_LOW_PORT = 1023
_CLOUD_FILES = {"key-cert": "server.key", "cert": "server.crt", "cacert": "ca.crt"}
# Volumes have files of all kinds of users, which are removed with them.
_FILES = frozenset({"DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER"})
# Sockets to pods are made inside of their nodes' namespaces, and addresses of load balancers are routed.
_NETWORKS = frozenset({"SYS_ADMIN", "NET_ADMIN"})


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A process in the background. Those that come first in a list are stopped last."""

    name: str
    command: tuple[str, ...]
    # What it may do beyond other users, and nothing else, nor may anything that it executes; None for everything.
    capabilities: frozenset[str] | None = None
    user: int = 0  # whose process it is; 0 for the supervisor's own user
    umask: int = 0o022


def pyb(*arguments: str) -> tuple[str, ...]:
    """Return the command line of one of our own programs.

    With -P: without it Python would look for modules in the folder in which the user happens to stand, and a file that
    somebody left there would run with the user's rights.
    """
    return (sys.executable, "-P", "-m", "pybernetes.cmd.main", *arguments)


def containerd_paths(cluster: Cluster, node: str) -> ContainerdPaths:
    """Return the paths of a node's containerd: those of its machine, and the usual ones there."""
    return ContainerdPaths(
        Path("/var/lib/containerd"),
        Path("/run/containerd"),
        cluster.root / "nodes" / node / "containerd.toml",
        Path("/etc/cni/net.d"),
        Path(PLUGINS),
    )


def containerd_socket(cluster: Cluster, node: str) -> Path:
    """Return the socket of a node's containerd as it is seen everywhere."""
    return cluster.run / node / containerd_paths(cluster, node).socket.name


def machine(cluster: Cluster, node: str, host_network: bool) -> Machine:
    """Return the machine of a node."""
    namespace = "" if host_network else network.namespace(cluster.name, node)
    group = f"pybernetes/{cluster.name}/{node}"
    return Machine(node, cluster.root / "nodes" / node, cluster.run, namespace, group)


def desired_processes(cluster: Cluster, settings: Settings, closed: bool = False) -> list[ProcessSpec]:
    """Return the processes of a cluster: a control plane, its helper on the host, for each node a containerd and its agents.

    ``closed`` says that the control plane's user cannot reach its files without a right to go through all folders.
    """
    if settings.control_planes:
        running = (node for node in settings.nodes if not node.stopped)
        return [spec for node in running for spec in _of_machine(cluster, settings, node)]
    command = pyb(CONTROL_PLANE, "--cluster", cluster.name)
    capabilities = _control_plane_capabilities(settings, closed)
    result = [ProcessSpec(CONTROL_PLANE, command, capabilities, settings.user, umask=0o077)]
    if settings.node_range:
        command = pyb("local-host", "--cluster", cluster.name)
        result.append(ProcessSpec(HOST, command, _FILES | _NETWORKS, umask=0o077))
        if settings.connected and not settings.host_network:
            command = pyb("local-links", "--cluster", cluster.name)
            result.append(ProcessSpec(LINKS, command, _FILES | _NETWORKS, umask=0o077))
    for node in settings.nodes:
        if not node.stopped:
            result += _of_node(cluster, settings, node)
    if settings.autoscaler:
        result += _autoscaler(cluster, settings, closed)
    if settings.federation:
        result += _federation(cluster, settings, closed)
    result += _gateway(cluster, settings)
    return result


def _federation(cluster: Cluster, settings: Settings, closed: bool) -> list[ProcessSpec]:
    """Return the control plane of the federation that the cluster is the host of."""
    from pybernetes.tools.local.federation import (
        process,  # here and not above: the supervisor is to stay small
    )

    reading = frozenset({"DAC_READ_SEARCH"} if closed else ())
    command = pyb(*process.arguments(cluster))
    return [ProcessSpec(process.NAME, command, reading, settings.user, umask=0o077)]


def _gateway(cluster: Cluster, settings: Settings) -> list[ProcessSpec]:
    """Return the gateway, in the network of the first node that runs: from there the proxy reaches pods."""
    from pybernetes.tools.local.addons import gateway

    node = next((node for node in settings.nodes if not node.stopped), None)
    if node is None or not settings.gateway:
        return []
    own = network.namespace(cluster.name, node.name)
    inside = () if settings.host_network else ("nsenter", f"--net=/run/netns/{own}", "--")
    command = (*inside, *pyb(*gateway.arguments(cluster, settings, node.name)))
    return [ProcessSpec(gateway.NAME, command, gateway.CAPABILITIES, umask=0o077)]


def _autoscaler(cluster: Cluster, settings: Settings, closed: bool) -> list[ProcessSpec]:
    """Return the autoscaler, which may do no more than others, and the cloud that it drives, which makes nodes."""
    from pybernetes.tools.local.addons import autoscaler

    folder = cluster.root / autoscaler.CLOUD
    files = [f"--{flag}={folder / name}" for flag, name in _CLOUD_FILES.items()]
    cloud = pyb(
        autoscaler.CLOUD, f"--cluster={cluster.name}", f"--address=127.0.0.1:{settings.cloud_port}", *files
    )
    reading = frozenset({"DAC_READ_SEARCH"} if closed else ())
    own = pyb(*autoscaler.arguments(cluster, settings))
    return [
        ProcessSpec(autoscaler.CLOUD, cloud, umask=0o077),
        ProcessSpec(autoscaler.AUTOSCALER, own, reading, settings.user, umask=0o077),
    ]


def _control_plane_capabilities(settings: Settings, closed: bool) -> frozenset[str]:
    low = {"NET_BIND_SERVICE"} if 0 < settings.port <= _LAST_LOW_PORT else set()
    if not settings.user:  # root, where nobody can become another user, or somebody without any of these
        return _FILES | low
    return frozenset(low | ({"DAC_READ_SEARCH"} if closed else set()))


def _of_machine(cluster: Cluster, settings: Settings, node: NodeSettings) -> list[ProcessSpec]:
    """Return what runs on a machine that kubeadm installs: a container runtime and an init, or a member of etcd."""
    own = machine(cluster, node.name, host_network=False)
    if node.role == ETCD:
        from pybernetes.tools.local.control_planes import (
            external_etcd,
        )  # here and not above: few clusters have it

        return [ProcessSpec(f"etcd-{node.name}", own.command(*external_etcd.command(settings, node)))]
    return _runtime_and(cluster, node, own, "local-machine")


def _of_node(cluster: Cluster, settings: Settings, node: NodeSettings) -> list[ProcessSpec]:
    own = machine(cluster, node.name, settings.host_network)
    return _runtime_and(cluster, node, own, "local-node")


def _runtime_and(cluster: Cluster, node: NodeSettings, own: Machine, program: str) -> list[ProcessSpec]:
    containerd = ("containerd", "--config", str(containerd_paths(cluster, node.name).config))
    agents = pyb(program, "--cluster", cluster.name, "--node", node.name)
    return [
        ProcessSpec(f"containerd-{node.name}", own.command(*containerd)),
        ProcessSpec(f"node-{node.name}", own.command(*agents)),
    ]
