"""One node of a local cluster: a containerd and a kubelet of its own inside of its network namespace."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from pybernetes.lib import tls
from pybernetes.node.containerd.config import Places
from pybernetes.node.containerd.daemon import Containerd
from pybernetes.node.kubelet.cri.client import Cri, CriError
from pybernetes.tools.local import kubeconfig, network
from pybernetes.tools.local.places import Cluster

log = logging.getLogger(__name__)
_RESTART_SECONDS = 1.0
_GROUP_SECONDS = 5.0


class Node:
    """The places and programs of a node."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster, self.name = cluster, name
        self.root = cluster.root / "nodes" / name
        self.places = Places(self.root / "containerd", self.root / "run")
        self.namespace = network.namespace(cluster.name, name)

    @property
    def kubeconfig(self) -> Path:
        return self.root / "kubelet.kubeconfig"

    def prepare(self, server: str) -> None:
        """Makes the node's own identity, once."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o711)
        if self.kubeconfig.exists():
            return
        certificate, key = tls.ensure_authority(self.cluster.certificates)
        authority = tls.Pair(certificate.read_bytes(), key.read_bytes())
        name = f"system:node:{self.name}"
        own = tls.issue(authority, name, organizations=["system:nodes"], client=True)
        entries = kubeconfig.entries(
            self.cluster.name, server, authority.certificate, own.certificate, own.key
        )
        kubeconfig.write(self.kubeconfig, entries)

    def kubelet(self, address: str) -> list[str]:
        """The command line of the kubelet."""
        return [
            "nsenter", f"--net=/run/netns/{self.namespace}", "--",
            sys.executable, "-m", "pybernetes.cmd.main", "kubelet",
            f"--kubeconfig={self.kubeconfig}",
            f"--hostname-override={self.name}",
            f"--node-ip={address}",
            f"--root-dir={self.root / 'kubelet'}",
            f"--pod-log-dir={self.root / 'pods'}",
            f"--container-runtime-endpoint=unix://{self.places.socket}",
            f"--cni-conf-dir={self.places.cni_configuration}",
            f"--client-ca-file={self.cluster.certificates / 'ca.crt'}",
            f"--cgroup-root=/pybernetes/{self.cluster.name}/{self.name}",
            "--cluster-dns=10.96.0.10",
            "--fail-swap-on=false",
        ]  # fmt: skip

    async def run(self, address: str) -> None:
        """Runs both programs until it is cancelled, starting again what ends."""
        runtime = Containerd(self.places, network=self.namespace)
        await runtime.start()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep_runtime(runtime))
                group.create_task(self._keep_kubelet(address))
        finally:
            await asyncio.shield(self._stop_pods())
            await runtime.stop()

    async def _stop_pods(self) -> None:
        """Ends every pod: a node that is stopped leaves no process behind."""
        cri = Cri(f"unix://{self.places.socket}")
        try:
            sandboxes = await cri.list_pod_sandboxes()
            await asyncio.gather(*(self._stop_pod(cri, sandbox.id) for sandbox in sandboxes))
        except CriError as error:
            log.error("the pods of %s could not be stopped: %s", self.name, error)
        finally:
            await cri.close()

    async def _stop_pod(self, cri: Cri, sandbox: str) -> None:
        await cri.stop_pod_sandbox(sandbox)
        await cri.remove_pod_sandbox(sandbox)

    async def _keep_runtime(self, runtime: Containerd) -> None:
        while True:
            assert runtime.process is not None
            code = await runtime.process.wait()
            log.error("containerd of %s ended with %d and is started again", self.name, code)
            await asyncio.sleep(_RESTART_SECONDS)
            await runtime.start()

    async def _keep_kubelet(self, address: str) -> None:
        while True:
            process = await asyncio.create_subprocess_exec(*self.kubelet(address))
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
                await process.wait()
                raise
            log.error("the kubelet of %s ended with %d and is started again", self.name, code)
            await asyncio.sleep(_RESTART_SECONDS)

    def clear(self) -> None:
        """Ends what still runs of the node's containers and undoes its mounts."""
        state = str(self.places.state)
        for line in Path("/proc/mounts").read_text().splitlines()[::-1]:
            where = line.split()[1]
            if where.startswith(f"{self.root}/"):
                subprocess.run(["umount", "--lazy", where], capture_output=True)
        shutil.rmtree(state, ignore_errors=True)
        for hierarchy in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()):
            _remove_groups(hierarchy / "pybernetes" / self.cluster.name / self.name)

    def remove(self) -> None:
        """Removes everything that the node made."""
        self.clear()
        network.remove_node(self.cluster.name, self.name)
        shutil.rmtree(self.root, ignore_errors=True)


def _remove_groups(root: Path) -> None:
    """Removes a cgroup with all below it, and those above it that it leaves empty.

    The kernel lets go of a group only when its last process is gone, which takes a moment.
    """
    deadline = time.monotonic() + _GROUP_SECONDS
    while root.exists() and time.monotonic() < deadline:
        for folder, _, _ in os.walk(root, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if root.exists():
            time.sleep(0.05)
    for parent in (root.parent, root.parent.parent):
        with contextlib.suppress(OSError):
            os.rmdir(parent)
