"""One node of a local cluster: its files, its identities, and what has to be cleared away."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
from pathlib import Path

from pybernetes.client import kubeconfig as config
from pybernetes.lib import tls
from pybernetes.lib.files import trees
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.tools.local import kubeconfig, network, system_pods
from pybernetes.tools.local.command_lines import CIPHERS
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.processes import CONTROL_PLANE, containerd_paths
from pybernetes.tools.local.settings import Settings

log = logging.getLogger(__name__)
_GROUP_SECONDS = 5.0
_PIDS = 16384  # of a pod: more than any needs, and less than the machine has


class Node:
    """A node with real containers."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name = cluster, name
        self.root = cluster.root / "nodes" / name
        self.containerd = containerd_paths(cluster, name)
        self.namespace = network.namespace(cluster.name, name)

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
        pem = self.root / "kubelet" / "pki" / "kubelet-client-current.pem"
        if self.identity("kubelet").exists() and tls.is_current(pem):
            return
        authority = self._authority()
        own = tls.issue(
            authority, f"system:node:{self.name}", organizations=["system:nodes"], client=True, days=365
        )
        pem.parent.mkdir(parents=True, exist_ok=True, mode=0o711)
        tls.write_atomically(pem, own.certificate + own.key, 0o600)
        entries = kubeconfig.entries(self.cluster.name, server, authority.certificate, b"", b"")
        entries["users"][0]["user"] = {"client-certificate": str(pem), "client-key": str(pem)}
        kubeconfig.write(self.identity("kubelet"), entries)

    def make_serving(self, address: str) -> None:
        """Give the kubelet a certificate to serve with; the API server takes no other.

        The one that is there stays while it is valid for the node's address. The kubelet does not make it: that would
        cost it memory for good.
        """
        names = (self.name, address, "127.0.0.1", "localhost")
        tls.ensure_pair(*self.serving, self._authority(), f"system:node:{self.name}", names)

    @property
    def registries(self) -> Path:
        """The folder that tells containerd where to pull from."""
        return self.root / "registries"

    @property
    def serving(self) -> tuple[Path, Path]:
        """The files of the certificate that the kubelet serves with, and of its key."""
        return self.root / "kubelet.crt", self.root / "kubelet.key"

    def _authority(self) -> tls.Pair:
        certificate, key = tls.ensure_authority(self.cluster.certificates)
        return tls.Pair(certificate.read_bytes(), key.read_bytes())

    def kubelet_arguments(self, address: str, cluster_dns: str) -> list[str]:
        """Return the command line of the node's kubelet."""
        return [
            f"--kubeconfig={self.identity('kubelet')}",
            f"--hostname-override={self.name}",
            f"--node-ip={address}",
            f"--root-dir={self.root / 'kubelet'}",
            f"--pod-log-dir={self.root / 'pods'}",
            f"--container-runtime-endpoint=unix://{self.containerd.socket}",
            f"--cni-conf-dir={self.containerd.cni_configuration}",
            f"--client-ca-file={self.cluster.certificates / 'ca.crt'}",
            f"--tls-cert-file={self.serving[0]}",
            f"--tls-private-key-file={self.serving[1]}",
            f"--cgroup-root=/pybernetes/{self.cluster.name}/{self.name}",
            f"--cluster-dns={cluster_dns}",
            "--cloud-provider=external",  # the local cloud
            "--fail-swap-on=false",
            # Stricter than upstream's defaults, as scanners want it; kubeletArguments win.
            "--seccomp-default=true",
            f"--pod-max-pids={_PIDS}",
            f"--tls-cipher-suites={CIPHERS}",
            "--rotate-certificates=true",
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

    async def run_pod_network(self, settings: Settings) -> None:
        """Run the pod network of the node until cancelled."""
        if settings.cni == "none" or settings.host_network:
            await asyncio.get_running_loop().create_future()
        # Here and not above: netlink takes a while to import, and the kubelet need not wait for it.
        from pybernetes.node.network import pod_network
        from pybernetes.node.network.plan import Configuration

        configuration = Configuration(
            backend=settings.cni,
            cluster_cidrs=(settings.pod_range,),
            cni_folder=self.containerd.cni_configuration,
            cni_state=self.root / "cni",
        )
        client = config.load(str(self.identity("pod-network"))).client(user_agent="pod-network")
        try:
            await pod_network.run(client, self.name, configuration)
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
        """End what still runs of the node's containers and undo its mounts."""
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                # A crash leaves the containerd shims, which have the socket of their containerd on the command line.
                if self._is_shim((process / "cmdline").read_bytes().split(b"\0")):
                    os.kill(int(process.name), 9)
        for folder in (self.root, self.containerd.state):
            try:
                host_mounts.unmount_below(folder.resolve())
            except OSError as error:
                log.warning("not everything below %s can be unmounted: %s", folder, error)
        for hierarchy in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()):
            _remove_groups(hierarchy / "pybernetes" / self.cluster.name / self.name)
        for address in self._sockets():
            address.unlink(missing_ok=True)
        _remove_folder(self.containerd.state)
        with contextlib.suppress(OSError):
            self.cluster.run.rmdir()

    def _sockets(self) -> list[Path]:
        """Return the sockets of the containerd shims, which lie outside of the node's folders."""
        files = self.containerd.state.glob("state/io.containerd.runtime.v2.task/*/*/address")
        return [Path(file.read_text().removeprefix("unix://")) for file in files]

    def remove_dead_sockets(self) -> None:
        """Remove the sockets of shims that are dead since a crash; containerd would leave them."""
        for address in self._sockets():
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(str(address))
                except ConnectionRefusedError:
                    address.unlink()
                except OSError:
                    pass

    def _is_shim(self, command: list[bytes]) -> bool:
        return b"containerd-shim" in command[0] and str(self.containerd.socket).encode() in command

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
