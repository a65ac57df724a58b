"""A local cluster from ``up`` to ``delete``."""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import shutil
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pybernetes.lib import tls
from pybernetes.node.containerd.daemon import check_programs
from pybernetes.tools.local import daemons, kubeconfig, network
from pybernetes.tools.local.node import Node
from pybernetes.tools.local.places import Cluster

CONTROL_PLANE = "control-plane"
_READY_SECONDS = 30.0
Step = Callable[[str, float], None]


class ClusterError(Exception):
    """Something about a cluster went wrong; the text says what and what to do."""


@dataclass
class Settings:
    """What a cluster was made with; kept with it, so that ``up`` brings the same one back."""

    address: str = "127.0.0.1"
    port: int = 0
    hollow: int = 0
    nodes: int = 0
    node_range: str = ""  # addresses of the nodes with real containers
    service_range: str = "10.96.0.0/16"
    pod_range: str = "10.244.0.0/16"


@contextlib.contextmanager
def locked(cluster: Cluster) -> Iterator[None]:
    """Two commands on one cluster exclude each other."""
    cluster.create()
    with cluster.lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ClusterError(f"another command is at work on the cluster {cluster.name!r}") from None
        yield


def node_name(cluster: Cluster, number: int) -> str:
    """The name of a node with real containers, counted from 0."""
    return cluster.name if number == 0 else f"{cluster.name}-{number + 1}"


def nodes_of(cluster: Cluster, settings: Settings) -> list[Node]:
    """The nodes with real containers."""
    return [Node(cluster, node_name(cluster, number)) for number in range(settings.nodes)]


def up(cluster: Cluster, hollow: int | None, nodes: int | None, report: Step) -> Settings:
    """Starts a cluster, making it first if it is new; one that runs already is left as it is."""
    began = time.monotonic()

    def step(text: str) -> None:
        report(text, time.monotonic() - began)

    with locked(cluster):
        settings = _settings(cluster, hollow, nodes)
        if settings.nodes:
            check_programs()
            network.make_bridge(cluster.name, settings.node_range)
        if not daemons.running(cluster.pid(CONTROL_PLANE)):
            tls.ensure_authority(cluster.certificates)
            step("certificates are made")
            daemons.start(
                [CONTROL_PLANE, "--cluster", cluster.name],
                cluster.pid(CONTROL_PLANE),
                cluster.log(CONTROL_PLANE),
            )
        _write_kubeconfig(cluster, settings)
        _wait_until_ready(cluster, settings)
        step("the API server is ready")
        server = f"https://{settings.address}:{settings.port}"
        for number, node in enumerate(nodes_of(cluster, settings)):
            network.make_node(cluster.name, node.name, settings.node_range, number)
            node.prepare(server)
            program = f"node-{number}"
            if not daemons.running(cluster.pid(program)):
                command = ["local-node", "--cluster", cluster.name, "--number", str(number)]
                daemons.start(command, cluster.pid(program), cluster.log(program))
            step(f"the node {node.name} is started")
        path = kubeconfig.users_file()
        kubeconfig.write(path, kubeconfig.merged(kubeconfig.read(path), kubeconfig.read(cluster.kubeconfig)))
        step(f"the context {cluster.name} is in {path}")
    return settings


def _settings(cluster: Cluster, hollow: int | None, nodes: int | None) -> Settings:
    try:
        settings = Settings(**json.loads(cluster.settings.read_text()))
    except FileNotFoundError:
        settings = Settings(port=_free_port())
    if hollow is not None:
        settings.hollow = hollow
    if nodes is not None:
        settings.nodes = nodes
    if settings.nodes and not settings.node_range:
        settings.node_range = network.free_range()
        # Nodes reach the API server over the bridge, and so does everybody else on this machine.
        settings.address = network.gateway(settings.node_range)
    tls.write_atomically(cluster.settings, json.dumps(asdict(settings), indent=2).encode(), 0o600)
    return settings


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _write_kubeconfig(cluster: Cluster, settings: Settings) -> None:
    """The administrator's own certificate, made once."""
    if cluster.kubeconfig.exists():
        return
    certificate, key = tls.ensure_authority(cluster.certificates)
    authority = tls.Pair(certificate.read_bytes(), key.read_bytes())
    admin = tls.issue(authority, "kubernetes-admin", organizations=["system:masters"], client=True)
    server = f"https://{settings.address}:{settings.port}"
    entries = kubeconfig.entries(cluster.name, server, authority.certificate, admin.certificate, admin.key)
    kubeconfig.write(cluster.kubeconfig, entries)


def is_ready(cluster: Cluster, settings: Settings) -> bool:
    """Whether the API server answers that it is."""
    context = ssl.create_default_context(cafile=str(cluster.certificates / "ca.crt"))
    connection = http.client.HTTPSConnection(settings.address, settings.port, context=context, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _wait_until_ready(cluster: Cluster, settings: Settings) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not is_ready(cluster, settings):
        if not daemons.running(cluster.pid(CONTROL_PLANE)) or time.monotonic() > deadline:
            log = cluster.log(CONTROL_PLANE)
            raise ClusterError(f"the control plane did not start; its log is {log}:\n{_tail(log)}")
        time.sleep(0.02)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-12:]) if log.exists() else ""


def down(cluster: Cluster) -> bool:
    """Stops a cluster and keeps its state; False if it was not running."""
    with locked(cluster):
        settings = _read(cluster)
        for number, node in enumerate(nodes_of(cluster, settings)):
            daemons.stop(cluster.pid(f"node-{number}"))
            node.clear()
        return daemons.stop(cluster.pid(CONTROL_PLANE))


def _read(cluster: Cluster) -> Settings:
    try:
        return Settings(**json.loads(cluster.settings.read_text()))
    except FileNotFoundError:  # an ``up`` that was cut short before it knew anything
        return Settings()


def delete(cluster: Cluster) -> None:
    """Stops a cluster and removes everything that it made."""
    with locked(cluster):
        settings = _read(cluster)
        for number, node in enumerate(nodes_of(cluster, settings)):
            daemons.stop(cluster.pid(f"node-{number}"))
            node.remove()
        daemons.stop(cluster.pid(CONTROL_PLANE))
        if settings.nodes:
            network.remove_bridge(cluster.name, settings.node_range)
        path = kubeconfig.users_file()
        if path.exists():
            kubeconfig.write(path, kubeconfig.without(kubeconfig.read(path), cluster.name))
        shutil.rmtree(cluster.root)
