"""The machines of a cluster with several control planes: what is on them before kubeadm comes, and how kubeadm is run there."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import yaml

from pybernetes.api.resource import Object
from pybernetes.lib.tls import tls
from pybernetes.node.containerd.containerd import configure
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm import static_pods
from pybernetes.tools.load_balancer import haproxy, keepalived, pods
from pybernetes.tools.local.control_planes import external_etcd, image_store, topology
from pybernetes.tools.local.network import network, partition
from pybernetes.tools.local.nodes import slow_disk
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.processes import pyb
from pybernetes.tools.local.settings import CONTROL_PLANE, ETCD, NodeSettings, Settings

# The host's service manager is not the machine's: kubeadm must not find it. Its name servers are.
_WITHOUT_SYSTEMD = """\
[ -d /run/systemd/system ] || exit 0
mkdir -p /run/host/systemd
mount --bind /run/systemd /run/host/systemd
mount -t tmpfs -o mode=755 tmpfs /run/systemd
if [ -d /run/host/systemd/resolve ]; then
    mkdir /run/systemd/resolve
    mount --bind /run/host/systemd/resolve /run/systemd/resolve
fi
"""


def prepare(cluster: Cluster, settings: Settings, node_settings: NodeSettings, store: Path | None) -> None:
    """Make a machine with its network, and with images from a store if it has none yet."""
    node = Node(cluster, node_settings.name)
    network.make_node(cluster.name, node.name, settings.node_range, node_settings.number, settings.pod_ranges)
    own = network.node_addresses(settings, node.name)
    if node_settings.role == ETCD:
        node.create_machine()
        external_etcd.give_member(cluster, settings, node_settings, node.machine)
    else:
        network.keep_services_inside(node.namespace, settings.service_ranges, own)
        node.root.mkdir(parents=True, exist_ok=True, mode=0o711)
        configure(node.containerd)
        if store is not None:
            image_store.share(store, node.machine.own(str(node.containerd.root)))
        node.create_machine()
    run(node, "sh", "-c", _WITHOUT_SYSTEMD)
    if any(other.apart for other in settings.nodes):
        partition.apply(cluster, settings)
    if node_settings.disk_operations:
        slow_disk.limit(node.machine, node_settings.disk_operations)


def run(node: Node, *words: str, text: str = "") -> str:
    """Run a program on a machine and return its output; ClusterError with what it says if it fails."""
    done = subprocess.run(
        node.machine.command(*words), input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ClusterError(f"{node.name}: {' '.join(words[:3])}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def write(node: Node, path: str, text: str, mode: int = 0o600) -> None:
    """Write a file of a machine, in whose /etc nobody else sees it."""
    script = f'umask 077; mkdir -p "$(dirname "$1")" && cat > "$1" && chmod {mode:o} "$1"'
    run(node, "sh", "-c", script, "sh", path, text=text)


def give_load_balancer(cluster: Cluster, settings: Settings, node_settings: NodeSettings) -> None:
    """Put HAProxy and keepalived on a control-plane machine, as static pods that its kubelet will start."""
    if node_settings.role != CONTROL_PLANE:
        return
    node, plan = Node(cluster, node_settings.name), topology.plan(settings)
    write(node, haproxy.CONFIGURATION, haproxy.configuration(plan, settings.load_balancer))
    write(node, keepalived.CONFIGURATION, keepalived.configuration(plan, node.name))
    write(node, keepalived.CHECK, keepalived.check_script(plan), 0o755)
    run(node, "chmod", "755", "/etc/keepalived")  # the check is nobody's
    manifests = node.machine.own("/etc/kubernetes") / "manifests"
    static_pods.write(manifests, "haproxy", pods.balancer(plan, settings.load_balancer, images.haproxy()))
    static_pods.write(manifests, "keepalived", pods.address(images.keepalived()))


def reload_load_balancer(cluster: Cluster, name: str) -> None:
    """Have HAProxy and keepalived on a machine read their configurations again, if they run."""
    machine = Node(cluster, name).machine
    for program, number in (("haproxy", signal.SIGUSR2), ("keepalived", signal.SIGHUP)):
        pids = [pid for pid in machine.processes() if is_program(pid, program)]
        # The first one is that which started the others, and tells them.
        for pid in sorted(pids)[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def is_program(pid: int, program: str) -> bool:
    """Return whether a process is a program: its first words are interpreters and paths, before the flags."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    first = (word for word in words[:3] if not word.startswith(b"-"))
    return any(word.rpartition(b"/")[2].decode(errors="replace") == program for word in first)


def kubeadm(cluster: Cluster, name: str, *words: str, documents: list[Object] | None = None) -> None:
    """Run kubeadm on a machine; what it says goes to a log, whose end is the error if it fails."""
    node, log = Node(cluster, name), cluster.log(f"kubeadm-{name}")
    file = node.root / "kubeadm.yaml"  # has secrets, and is seen on the machine too
    flags: tuple[str, ...] = ()
    if documents is not None:
        tls.write_atomically(file, yaml.safe_dump_all(documents, sort_keys=False).encode(), 0o600)
        flags = ("--config", str(file))
    try:
        with log.open("ab") as output:
            command = node.machine.command(*pyb("kubeadm", *words, *flags))
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
            )
    finally:
        file.unlink(missing_ok=True)
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise ClusterError(f"kubeadm {words[0]} failed on {name}; its log is {log}:\n{tail}")
