"""A local cluster from ``up`` to ``delete``."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pybernetes.lib import discover
from pybernetes.lib.files import trees
from pybernetes.lib.tls import tls
from pybernetes.node.containerd import registries, runtimes
from pybernetes.node.containerd.containerd import configure
from pybernetes.node.containerd.requirements import check_programs
from pybernetes.tools.local import background_process, kubeconfig, name_lock, ownership
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.addons import addons, autoscaler, gateway
from pybernetes.tools.local.admin_client import AdminClient
from pybernetes.tools.local.federation import process as federation
from pybernetes.tools.local.network import (
    bridge,
    dns_ports,
    host_network,
    kernel_settings,
    network,
    partition,
    server_address,
)
from pybernetes.tools.local.nodes import node_registration, slow_disk
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.processes import CONTROL_PLANE
from pybernetes.tools.local.settings import NodeSettings, Settings, SettingsError

SUPERVISOR = "supervisor"
_READY_SECONDS = 60.0
# Called with what is done, what comes next, and the seconds since the start.
Step = Callable[[str, str, float], None]


@contextlib.contextmanager
def locked(cluster: Cluster, patience: float = 0.0) -> Iterator[None]:
    """Exclude other commands on the cluster; a new cluster that was refused at once leaves no folder.

    Whoever has ``patience`` waits so many seconds for the other command's end.
    """
    new = not cluster.root.exists()
    deadline = time.monotonic() + patience
    cluster.create()
    with cluster.lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise ClusterError(
                        f"another command is at work on the cluster {cluster.name!r}"
                    ) from None
                time.sleep(0.05)
        try:
            yield
        finally:
            if new and not cluster.settings.exists():
                trees.remove_path(cluster.root)


def up(cluster: Cluster, changes: Mapping[str, Any], report: Step, wait: float = 0.0) -> Settings:
    """Start a cluster, making it first if it is new; one that runs already is left as it is.

    With ``wait`` it also waits, at most so many seconds, until every node is ready.
    """
    began = time.monotonic()

    def step(done: str, next_: str = "") -> None:
        report(done, next_, time.monotonic() - began)

    step("", "making certificates and networks")
    with locked(cluster):
        before = saved_settings.load(cluster)
        if before.control_planes or changes.get("control_planes"):
            from pybernetes.tools.local.control_planes import lifecycle as machines

            return machines.up(cluster, before, changes, step, wait)
        settings = _decide(cluster, before, changes)
        for group in settings.node_groups:
            node_registration.check_resources(group)
        if settings.has_real_nodes:
            check_programs()
            name_lock.acquire(cluster)
            kernel_settings.remember(cluster)
        saved_settings.save(cluster, settings)
        tls.ensure_authority(cluster.certificates)
        _write_kubeconfig(cluster, settings)
        if settings.has_real_nodes and not settings.host_network:
            opened = dns_ports.opened_with_api(settings)
            bridge.make_bridge(cluster.name, settings.node_range, opened, settings.node_range_v6)
        for node in settings.nodes:
            if not node.stopped:
                prepare(cluster, settings, node)
        _hand_over(cluster, settings)
        if settings.autoscaler:
            autoscaler.prepare(cluster, settings, server_address.server_of(settings))
        if settings.gateway:
            gateway.prepare(cluster, server_address.server_of(settings))
        if settings.federation:
            federation.prepare(cluster, settings, server_address.server_of(settings))
        step("certificates, settings and networks are there", "starting the API server")
        started = start_supervisor(cluster, changed=settings != before)
        _wait_until_ready(cluster, max(wait, _READY_SECONDS))
        step("the API server is ready")
        node_registration.register(cluster, settings)
        path = kubeconfig.users_file()
        kubeconfig.change(path, lambda config: kubeconfig.merged(config, kubeconfig.read(cluster.kubeconfig)))
        step(f"the context {cluster.name} is in {path}", "waiting for nodes" if wait else "")
    if wait:
        for name in wait_for_nodes(cluster, settings, wait, started):
            step(f"the node {name} is ready", "waiting for nodes")
    return settings


def _decide(cluster: Cluster, settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Return the settings that the cluster is to have, with the addresses that they need."""
    result = saved_settings.apply(cluster.name, settings, {"paused": False, **changes})
    gateway.check(result)
    _check_proxy_mode(result)
    if result.host_network:
        result.address = "0.0.0.0"
        result.node_range = result.node_range or network.free_range(cluster.name)  # for load balancers
    elif result.has_real_nodes and not result.node_range:
        result.node_range = network.free_range(cluster.name)
        # Nodes reach the API server over the bridge, and so does everybody else on this machine.
        result.address = network.gateway(result.node_ranges[0])
        cluster.kubeconfig.unlink(missing_ok=True)
    elif not result.port:
        result.address = server_address.loopback(cluster.name)
    if not result.port:
        result.port = server_address.free_port(result.address)
    if result.autoscaler and not result.cloud_port:
        result.cloud_port = server_address.free_port("127.0.0.1")
    if not background_process.running(cluster.pid_file(SUPERVISOR)):
        result.user = ownership.user_for(cluster)
    if result.has_real_nodes and not (
        result.dns_port and background_process.running(cluster.pid_file(SUPERVISOR))
    ):
        result.dns_port = dns_ports.choose(network.host_address(result))
    return result


def _check_proxy_mode(settings: Settings) -> None:
    """Check that this machine's kernel can do what kube-proxy is to do; SettingsError says what to use instead."""
    if not settings.has_real_nodes or settings.proxy_mode == "none":
        return
    from pybernetes.node.proxy.config import MODES

    lack = discover.load(MODES, settings.proxy_mode).MODE.missing()
    if lack:
        raise SettingsError(f"the proxy mode {settings.proxy_mode!r} cannot be had here: {lack}")
    if settings.proxy_arguments:
        from pybernetes.tools.local.nodes import kube_proxy

        kube_proxy.configuration(settings, "")


def _hand_over(cluster: Cluster, settings: Settings) -> None:
    try:
        ownership.hand_over(cluster, settings)
    except PermissionError:  # files of another machine may have no other owner
        settings.user = 0
        saved_settings.save(cluster, settings)


def prepare(cluster: Cluster, settings: Settings, node_settings: NodeSettings) -> None:
    """Make what a node needs before its processes start."""
    if settings.control_planes:
        from pybernetes.tools.local.control_planes import machines

        machines.prepare(cluster, settings, node_settings, None)
        return
    node, server = (
        Node(cluster, node_settings.name, settings.host_network),
        server_address.server_of(settings),
    )
    own = network.node_addresses(settings, node_settings.name)
    if settings.host_network:
        host_network.prepare(settings)
    else:
        network.make_node(
            cluster.name,
            node.name,
            settings.node_range,
            node_settings.number,
            settings.pod_ranges,
            settings.node_range_v6,
        )
        network.keep_services_inside(node.namespace, settings.service_ranges, own)
    node.make_kubelet_identity(server)
    node.make_serving(own)
    node.make_identity("kube-proxy", server, "system:kube-proxy")
    node.make_identity("pod-network", server, addons.NETWORK_USER)
    registries.write(node.registries, settings.registry_mirrors, settings.insecure_registries)
    configure(node.containerd, node.registries, [runtimes.PROGRAMS[name] for name in settings.runtimes])
    node.create_machine()
    if any(other.apart for other in settings.nodes):
        partition.apply(cluster, settings)
    if node_settings.disk_operations:
        slow_disk.limit(node.machine, node_settings.disk_operations)


def _write_kubeconfig(cluster: Cluster, settings: Settings) -> None:
    """Write the administrator's kubeconfig with a certificate of their own, once."""
    if cluster.kubeconfig.exists():
        return
    certificate, key = tls.ensure_authority(cluster.certificates)
    authority = tls.Pair(certificate.read_bytes(), key.read_bytes())
    admin = tls.issue(authority, "kubernetes-admin", organizations=["system:masters"], client=True)
    server = server_address.server_of(settings)
    entries = kubeconfig.entries(cluster.name, server, authority.certificate, admin.certificate, admin.key)
    kubeconfig.write(cluster.kubeconfig, entries)


def start_supervisor(cluster: Cluster, changed: bool) -> str:
    """Return the moment at which it was started, or nothing if it runs since earlier."""
    pid = background_process.running(cluster.pid_file(SUPERVISOR))
    if not pid:
        command = ["local-supervisor", "--cluster", cluster.name]
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        background_process.start(command, cluster.pid_file(SUPERVISOR), cluster.log(SUPERVISOR))
        return moment
    if changed:
        os.kill(pid, signal.SIGHUP)
    return ""


def refresh(cluster: Cluster, settings: Settings) -> None:
    """Save changed settings and have the supervisor act on them."""
    saved_settings.save(cluster, settings)
    pid = background_process.running(cluster.pid_file(SUPERVISOR))
    if pid:
        os.kill(pid, signal.SIGHUP)


def running_processes(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """Return the processes of a cluster with their PIDs and how often they were restarted."""
    if not background_process.running(cluster.pid_file(SUPERVISOR)):
        return {}
    try:
        return json.loads(cluster.processes.read_text())
    except FileNotFoundError:
        return {}


def wait_for_end(cluster: Cluster, process: str, seconds: float = _READY_SECONDS) -> None:
    """Wait until the supervisor has stopped a process."""
    deadline = time.monotonic() + seconds
    while process in running_processes(cluster):
        if time.monotonic() > deadline:
            raise ClusterError(f"{process} did not stop within {seconds:.0f} seconds")
        time.sleep(0.02)


def _wait_until_ready(cluster: Cluster, seconds: float = _READY_SECONDS) -> None:
    deadline, api = time.monotonic() + seconds, AdminClient(cluster)
    while not api.is_ready():
        restarts = running_processes(cluster).get(CONTROL_PLANE, {}).get("restarts", 0)
        if (
            restarts > 2
            or not background_process.running(cluster.pid_file(SUPERVISOR))
            or time.monotonic() > deadline
        ):
            log = cluster.log(CONTROL_PLANE)
            raise ClusterError(f"the control plane did not start; its log is {log}:\n{_tail(log)}")
        time.sleep(0.02)


def wait_for_nodes(cluster: Cluster, settings: Settings, seconds: float, since: str) -> Iterator[str]:
    """Return the name of each node when it has become ready; what it said before a moment does not count."""
    missing = {node.name for node in settings.nodes if not node.stopped and node.role != saved_settings.ETCD}
    missing |= {f"hollow-{number}" for number in range(settings.hollow)}
    missing |= {node.name for node in settings.hollow_nodes}
    deadline, api = time.monotonic() + seconds, AdminClient(cluster)
    while missing:
        for name in sorted(missing & api.ready_nodes(since)):
            missing.discard(name)
            yield name
        if missing and time.monotonic() > deadline:
            names = ", ".join(sorted(missing)[:5])
            raise ClusterError(f"not ready after {seconds:.0f} seconds: {names}; pyb logs says more")
        time.sleep(0.05)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-12:]) if log.exists() else ""


def down(cluster: Cluster) -> bool:
    """Stop a cluster and keep its state; return False if it was not running."""
    with locked(cluster):
        settings = saved_settings.load(cluster)
        _resume(cluster, settings)
        stopped = background_process.stop(cluster.pid_file(SUPERVISOR), seconds=120)
        if name_lock.may_have(cluster):
            for node in settings.nodes:
                Node(cluster, node.name).clear()
            _clear_run(cluster)
        return stopped


def delete(cluster: Cluster) -> None:
    """Stop a cluster and remove everything that it made."""
    with locked(cluster):
        settings = saved_settings.load(cluster)
        _resume(cluster, settings)
        background_process.stop(cluster.pid_file(SUPERVISOR), seconds=120)
        if name_lock.may_have(cluster):
            # Nodes that exist on the machine too: the settings may be lost.
            for name in {node.name for node in settings.nodes} | network.nodes(cluster.name):
                Node(cluster, name).remove()
            bridge.remove_bridge(cluster.name)
            if settings.host_network:
                host_network.clear(settings)
            kernel_settings.put_back(cluster)
            _clear_run(cluster)
            name_lock.release(cluster)
        path = kubeconfig.users_file()
        if path.exists():
            kubeconfig.change(path, lambda config: kubeconfig.without(config, cluster.name))
        trees.remove_path(cluster.root)


def _resume(cluster: Cluster, settings: Settings) -> None:
    """Let nodes that are paused go on: what is held cannot stop."""
    paused = [node for node in settings.nodes if node.paused]
    for node in paused:
        Node(cluster, node.name).machine.resume()
        settings.change(node, paused=False)
    if paused:
        saved_settings.save(cluster, settings)


def _clear_run(cluster: Cluster) -> None:
    """Remove what is left of a cluster among what need not survive a reboot, unless something else is in there."""
    for file in (cluster.host_socket, cluster.balancers):
        file.unlink(missing_ok=True)
    for folder in (cluster.run, cluster.run.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()


def pause(cluster: Cluster, paused: bool) -> None:
    """Freeze the processes of a cluster, or let them continue."""
    with locked(cluster):
        if not running_processes(cluster):
            raise ClusterError(f"the cluster {cluster.name} does not run")
        settings = saved_settings.load(cluster)
        settings.paused = paused
        refresh(cluster, settings)
