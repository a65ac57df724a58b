"""Installs a cluster with several control planes by kubeadm, from the first machine to the last."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

import pybernetes
from pybernetes.node.containerd import containerd
from pybernetes.node.containerd.config import ContainerdPaths
from pybernetes.tools.kubeadm import certificate_files, shared_certificates, tokens
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.admin_client import AdminClient
from pybernetes.tools.local.control_planes import (
    configuration,
    external_etcd,
    image_store,
    machines,
    serving_certificates,
    topology,
)
from pybernetes.tools.local.control_planes.configuration import Invitation
from pybernetes.tools.local.network import bridge
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.processes import containerd_socket, pyb
from pybernetes.tools.local.settings import NodeSettings, Settings

_READY_SECONDS = 120.0
_NETWORK = Path(pybernetes.__file__).parents[1] / "examples" / "kubeadm" / "pod-network.yaml"
# Called with what is done and what comes next.
Step = Callable[[str, str], None]


def prepare(cluster: Cluster, settings: Settings) -> None:
    """Make every machine that is not stopped, with its network and images."""
    bridge.make_bridge(cluster.name, settings.node_range, bridge.OpenPorts())
    store = None if cluster.kubeconfig.exists() else image_store.ensure()
    wanted = [node for node in settings.nodes if not node.stopped]
    # One after the other: a thread that makes a machine leaves the host's mounts.
    for node in wanted:
        machines.prepare(cluster, settings, node, store)


def install(cluster: Cluster, settings: Settings, step: Step) -> None:
    """Make a new cluster of machines that run: kubeadm init on the first, join on all others."""
    first, *others = topology.control_planes(settings)
    workers = [node for node in settings.nodes if not node.role]
    wait_for_runtimes(cluster, [first, *others, *workers])
    token, key = tokens.generate(), shared_certificates.new_key()
    for node in (first, *others):
        machines.give_load_balancer(cluster, settings, node)
    external = None
    if settings.etcd == "external":
        external = external_etcd.configuration(settings)
        external_etcd.give_client(cluster, Node(cluster, first.name).machine)
    documents = configuration.initial(cluster.name, settings, first, token, key, external)
    machines.kubeadm(cluster, first.name, "init", "--upload-certs", documents=documents)
    authority = _write_kubeconfig(cluster, settings, first)
    step(f"{first.name} is a control plane behind {settings.address}", "other machines join")
    _apply_network(cluster)
    invitation = Invitation(token, tuple(certificate_files.bundle_hashes(authority)), key)

    def join(node: NodeSettings) -> str:
        documents = configuration.joining(cluster.name, settings, node, invitation)
        machines.kubeadm(cluster, node.name, "join", documents=documents)
        return node.name

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for name in pool.map(join, [*others, *workers]):
            step(f"{name} has joined", "other machines join")
    serving_certificates.approve(cluster, settings)
    machines.kubeadm(cluster, first.name, "init", "phase", "addon", "metrics-server", documents=documents)


def _apply_network(cluster: Cluster, seconds: float = _READY_SECONDS) -> None:
    """Give the cluster its pod network; while the virtual address settles, a call may still find nobody there."""
    deadline = time.monotonic() + seconds
    while True:
        wait_until_ready(cluster)
        try:
            kubectl(cluster, "apply", "-f", str(_NETWORK))
            return
        except ClusterError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def kubectl(cluster: Cluster, *words: str) -> str:
    """Run our kubectl as the administrator."""
    command = pyb("kubectl", f"--kubeconfig={cluster.kubeconfig}", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"kubectl {words[0]}: {done.stderr.strip()}")
    return done.stdout


def wait_until_ready(cluster: Cluster, seconds: float = _READY_SECONDS) -> None:
    """Wait until an API server answers at the virtual address."""
    deadline, api = time.monotonic() + seconds, AdminClient(cluster)
    while not api.is_ready():
        if time.monotonic() > deadline:
            raise ClusterError(
                f"no API server answers after {seconds:.0f} seconds; the logs are in {cluster.logs}"
            )
        time.sleep(0.1)


def wait_for_runtimes(cluster: Cluster, nodes: list[NodeSettings]) -> None:
    """Wait until the container runtimes of machines answer."""

    async def wait() -> None:
        sockets = [containerd_socket(cluster, node.name) for node in nodes]
        await asyncio.gather(
            *(containerd.make_ready(ContainerdPaths(socket.parent, socket.parent)) for socket in sockets)
        )

    asyncio.run(wait())


def _write_kubeconfig(cluster: Cluster, settings: Settings, first: NodeSettings) -> bytes:
    """Take the administrator's kubeconfig over from the first machine; return the authority's certificate."""
    file = Node(cluster, first.name).machine.own("/etc/kubernetes") / "admin.conf"
    config = yaml.safe_load(file.read_text())
    server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority, certificate, key = (
        base64.b64decode(text)
        for text in (
            server["certificate-authority-data"],
            user["client-certificate-data"],
            user["client-key-data"],
        )
    )
    url = f"https://{settings.address}:{settings.port}"
    kubeconfig.write(cluster.kubeconfig, kubeconfig.entries(cluster.name, url, authority, certificate, key))
    return authority
