"""One node of a local cluster: its files, its identities, and what has to be cleared away."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from pybernetes.client import kubeconfig as config
from pybernetes.lib.files import trees
from pybernetes.lib.tls import tls
from pybernetes.node.containerd.requirements import cni_plugins
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.addons import system_pods
from pybernetes.tools.local.command_lines import CIPHERS
from pybernetes.tools.local.network import network
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.processes import CONTROL_PLANE, containerd_paths, machine
from pybernetes.tools.local.settings import Settings

log = logging.getLogger(__name__)
_GROUP_SECONDS = 5.0
_KUBELET, _LOGS, _NETWORKS = "/var/lib/kubelet", "/var/log/pods", "/var/lib/cni"
_PIDS = 16384  # of a pod: more than any needs, and less than the machine has


class Node:
    """A node with real containers."""

    def __init__(self, cluster: Cluster, name: str, host_network: bool = False) -> None:
        self.cluster, self.name = cluster, name
        self.machine = machine(cluster, name, host_network)
        self.root = self.machine.root
        self.containerd = containerd_paths(cluster, name)  # as its machine sees them
        self.namespace = network.namespace(cluster.name, name)

    @property
    def _run(self) -> Path:
        """The folder on the host that is the machine's /run/containerd."""
        return self.cluster.run / self.name

    @property
    def policy_socket(self) -> Path:
        """Where the node's own pods ask whether their rules are in: most of /run is the same for all nodes of a host."""
        return self.containerd.state / "policy.sock"

    def create_machine(self) -> None:
        """Make the machine that the node is, unless it is there."""
        if self.machine.exists:
            return
        _remove_folder(self._run)  # nothing of it is alive
        self._run.mkdir(parents=True, mode=0o711)
        shared = {str(self.containerd.state): self._run}
        self.machine.create(shared, self.cluster.root, cni_plugins())

    def identity(self, component: str) -> Path:
        """Return the kubeconfig of a component of the node."""
        return self.root / f"{component}.kubeconfig"

    def make_identity(self, component: str, server: str, user: str, *groups: str) -> None:
        """Give a component of the node a certificate of its own, once."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o711)
        if self.identity(component).exists():
            return
        authority = self._authority()
        own = tls.issue(authority, user, organizations=list(groups), client=True)
        entries = kubeconfig.entries(
            self.cluster.name, server, authority.certificate, own.certificate, own.key
        )
        kubeconfig.write(self.identity(component), entries)

    def make_kubelet_identity(self, server: str) -> None:
        """Give the kubelet a certificate in a file, which it renews itself; a new one if it slept through its end."""
        name = "pki/kubelet-client-current.pem"
        pem = self.machine.own(_KUBELET) / name
        if self.identity("kubelet").exists() and tls.is_current(pem):
            return
        authority = self._authority()
        own = tls.issue(
            authority, f"system:node:{self.name}", organizations=["system:nodes"], client=True, days=365
        )
        pem.parent.mkdir(parents=True, exist_ok=True, mode=0o711)
        tls.write_atomically(pem, own.certificate + own.key, 0o600)
        entries = kubeconfig.entries(self.cluster.name, server, authority.certificate, b"", b"")
        entries["users"][0]["user"] = dict.fromkeys(
            ("client-certificate", "client-key"), f"{_KUBELET}/{name}"
        )
        kubeconfig.write(self.identity("kubelet"), entries)

    def make_serving(self, addresses: Sequence[str]) -> None:
        """Give the kubelet a certificate to serve with, which it renews itself; the API server takes no other.

        The one that is there stays while it is valid for the node's addresses. The kubelet does not ask for the first one:
        that would cost it memory for good.
        """
        names = (self.name, *addresses)
        pem = self.machine.own(_KUBELET) / "pki/kubelet-server-current.pem"
        pem.parent.mkdir(parents=True, exist_ok=True, mode=0o711)
        tls.ensure_joined_pair(pem, self._authority(), f"system:node:{self.name}", names)

    @property
    def registries(self) -> Path:
        """The folder that tells containerd where to pull from."""
        return self.root / "registries"

    def _authority(self) -> tls.Pair:
        certificate, key = tls.ensure_authority(self.cluster.certificates)
        return tls.Pair(certificate.read_bytes(), key.read_bytes())

    def kubelet_arguments(self, addresses: Sequence[str], cluster_dns: str) -> list[str]:
        """Return the command line of the node's kubelet."""
        return [
            f"--kubeconfig={self.identity('kubelet')}",
            f"--hostname-override={self.name}",
            f"--node-ip={','.join(addresses)}",
            # Where there is IPv6, the kubelet is asked by either.
            *(["--address=::"] if any(":" in address for address in addresses) else []),
            f"--root-dir={_KUBELET}",
            f"--pod-log-dir={_LOGS}",
            f"--container-runtime-endpoint=unix://{self.containerd.socket}",
            f"--cni-conf-dir={self.containerd.cni_configuration}",
            f"--client-ca-file={self.cluster.certificates / 'ca.crt'}",
            f"--cgroup-root=/pybernetes/{self.cluster.name}/{self.name}",
            f"--cluster-dns={cluster_dns}",
            "--cloud-provider=external",  # the local cloud
            "--fail-swap-on=false",
            # Stricter than upstream's defaults, as scanners want it; kubeletArguments win.
            "--seccomp-default=true",
            f"--pod-max-pids={_PIDS}",
            f"--tls-cipher-suites={CIPHERS}",
            "--rotate-certificates=true",
            "--rotate-server-certificates=true",
            # The disk is the user's: that it is nearly full is no reason to end their pods or remove their images.
            "--eviction-hard=memory.available<100Mi",
            "--image-gc-high-threshold=100",
        ]

    def plain_log(self, namespace: str, pod: str) -> Path | None:
        """Return the log of the process behind a pod that shows a part of the cluster on this node."""
        component = pod.removesuffix(f"-{self.name}")
        if namespace != system_pods.NAMESPACE or component == pod:
            return None
        return self.cluster.log(f"node-{self.name}" if component == "kube-proxy" else CONTROL_PLANE)

    async def run_pod_network(self, settings: Settings, joined: asyncio.Event) -> None:
        """Run the pod network of the node until cancelled; ``joined`` is set once pods of other nodes can be reached."""
        if settings.cni == "none":
            joined.set()  # whoever makes the network does not tell
            await asyncio.get_running_loop().create_future()
        # Here and not above: netlink takes a while to import, and the kubelet need not wait for it.
        from pybernetes.node.network import pod_network
        from pybernetes.node.network.plan import Configuration

        configuration = Configuration(
            backend="alone" if settings.host_network else settings.cni,
            cluster_cidrs=settings.pod_ranges,
            cni_folder=self.containerd.cni_configuration,
            cni_state=Path(_NETWORKS),
            policy_socket=self.policy_socket,
            cni_plugins=self.containerd.plugins,
        )
        client = config.load(str(self.identity("pod-network"))).client(user_agent="pod-network")
        try:
            await pod_network.run(client, self.name, configuration, joined)
        finally:
            await client.close()

    async def stop_pods(self) -> None:
        """End every pod: a node that is stopped leaves no process behind."""
        cri = CriClient(f"unix://{self.containerd.socket}")
        try:
            # A pod that was being made when its kubelet ended may come only now.
            while sandboxes := await cri.list_pod_sandboxes():
                await asyncio.gather(*(self._stop_pod(cri, sandbox.id) for sandbox in sandboxes))
        except CriError as error:
            log.error("the pods of %s could not be stopped: %s", self.name, error)
        finally:
            await cri.close()

    async def _stop_pod(self, cri: CriClient, sandbox: str) -> None:
        await cri.stop_pod_sandbox(sandbox)
        await cri.remove_pod_sandbox(sandbox)

    def clear(self) -> None:
        """End all that still runs on the node, and let go of its machine."""
        self.machine.delete()
        for hierarchy in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()):
            _remove_groups(hierarchy / self.machine.group)
        _remove_folder(self._run)
        with contextlib.suppress(OSError):
            self.cluster.run.rmdir()

    def remove(self) -> None:
        """Remove everything that the node made."""
        self.clear()
        network.remove_node(self.cluster.name, self.name)
        _remove_folder(self.root)


def _remove_folder(folder: Path) -> None:
    """Remove a folder, but nothing that is still mounted in it: that may be anything of the user's."""
    try:
        trees.remove_path(folder)
    except OSError as error:
        log.warning("%s cannot be removed: %s", folder, error)


def _remove_groups(root: Path) -> None:
    """Remove a cgroup with all below it, what still runs in it too, and those above it that it leaves empty.

    The kernel lets go of a group only when its last process is gone, which takes a moment.
    """
    deadline = time.monotonic() + _GROUP_SECONDS
    while root.exists() and time.monotonic() < deadline:
        for folder, _, _ in os.walk(root, topdown=False):
            _end_processes(Path(folder))
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if root.exists():
            time.sleep(0.05)
    for parent in (root.parent, root.parent.parent):
        with contextlib.suppress(OSError):
            os.rmdir(parent)


def _end_processes(group: Path) -> None:
    """Kill what a crash left behind in a pod's group; the node's own programs are never in one."""
    with contextlib.suppress(OSError):
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), 9)
