"""A node of its own for tests: a network namespace with an API server, a containerd and a kubelet in it.

The test's own thread lives in the namespace meanwhile, so that it and the programs it starts reach everything.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pybernetes.lib import oci
from pybernetes.node.containerd import images
from pybernetes.node.containerd.config import ContainerdPaths
from pybernetes.node.containerd.containerd import Containerd
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from tests.servers import Server, running
from tests.support import Result, eventually, require_program, require_root, until

IMAGE = "docker.io/library/busybox:1"
ADDRESS = "10.99.0.1"
# Longer than the kubelet's own 60 seconds between two looks at everything: what it was not told, it sees then.
PATIENCE = 180.0
_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
FOREVER = "trap 'exit 0' TERM; while true; do sleep 0.05; done"


def busybox() -> bytes:
    """Return an archive with an image of Debian's static busybox and its commands."""
    program = require_program("busybox")
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    files = {f"bin/{name}": oci.File(link="busybox") for name in listed if name != "busybox"}
    files["bin/busybox"] = oci.File(Path(program).read_bytes(), 0o755)
    files["etc/passwd"] = oci.File(b"root:x:0:0::/:/bin/sh\n")
    files["tmp/.keep"] = oci.File()
    return oci.archive(IMAGE, oci.layer(files), oci.Process(command=("sh",)))


@contextmanager
def network_namespace(name: str) -> Iterator[None]:
    """Enter a new network namespace with loopback and one address for as long as the block runs."""
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{name}") as target:
            if _LIBC.setns(target.fileno(), _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
            try:
                subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
                subprocess.run(["ip", "address", "add", f"{ADDRESS}/32", "dev", "lo"], check=True)
                yield
            finally:
                _LIBC.setns(home.fileno(), _CLONE_NEWNET)
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


class Node:
    """The parts of the node, each of which a test may stop and start."""

    def __init__(self, directory: Path, server: Server, *flags: str) -> None:
        self.directory, self.server = directory, server
        # The disk belongs to others as well: that it is full is nothing that pods have to go for.
        self.flags = (
            "--fail-swap-on=false",
            "--eviction-hard=memory.available<50Mi",
            "--image-gc-high-threshold=100",
            *flags,
        )
        self.name = "node1"
        self.places = ContainerdPaths(directory / "containerd", directory / "run")
        self.cgroup_root = f"/{directory.name}-{os.getpid()}"  # the machine may have others
        self.manifests = directory / "manifests"
        self.kubelet: subprocess.Popen[str] | None = None
        self.containerd: int = 0
        self.runner = asyncio.Runner()  # one loop, because it is told of the ends of its children

    def start_containerd(self) -> None:
        async def start() -> int:
            daemon = Containerd(self.places)
            await daemon.start()
            if IMAGE not in await images.names(self.places.socket):
                await images.load(self.places.socket, busybox())
            assert daemon.process is not None
            return daemon.process.pid

        self.containerd = self.runner.run(start())

    def start_kubelet(self, *flags: str, wait: bool = True) -> None:
        command = [
            sys.executable, "-m", "pybernetes.cmd.main", "kubelet", f"--kubeconfig={self.server.kubeconfig}",
            f"--hostname-override={self.name}", f"--node-ip={ADDRESS}", f"--root-dir={self.directory / 'kubelet'}",
            f"--pod-log-dir={self.directory / 'logs'}", f"--cgroup-root={self.cgroup_root}",
            f"--container-runtime-endpoint=unix://{self.places.socket}", "--pod-cidr=10.88.0.0/24",
            f"--cni-conf-dir={self.places.cni_configuration}", f"--pod-manifest-path={self.manifests}",
            "--anonymous-auth", "--authorization-mode=AlwaysAllow", *self.flags, *flags,
        ]  # fmt: skip
        with (self.directory / "kubelet.log").open("a") as log:
            self.kubelet = subprocess.Popen(command, stdout=log, stderr=log, text=True)
        if wait:
            self.until(self.is_ready)

    def ctr(self, *arguments: str) -> None:
        """Run containerd's own tool."""
        command = ["ctr", "--address", str(self.places.socket), "--namespace", "k8s.io", *arguments]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def is_ready(self) -> bool:
        """Return whether the node is registered and ready."""
        status, node = self.server.call("GET", f"/api/v1/nodes/{self.name}")
        conditions = node.get("status", {}).get("conditions", []) if status == 200 else []
        return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)

    def stop_kubelet(self, how: int = signal.SIGTERM) -> None:
        assert self.kubelet is not None
        self.kubelet.send_signal(how)
        self.kubelet.wait(60)

    def stop_containerd(self, how: int = signal.SIGKILL) -> None:
        os.kill(self.containerd, how)
        _reap(self.containerd)

    # -- pods --------------------------------------------------------------------------------------------

    def create(self, name: str, *containers: dict[str, Any], **spec: Any) -> None:
        """Create a pod on this node; a container without an image gets busybox."""
        listed = [{"image": IMAGE, **container} for container in containers]
        for group in ("initContainers",):
            if group in spec:
                spec[group] = [{"image": IMAGE, **container} for container in spec[group]]
        body = {
            "metadata": {"name": name, "labels": {"app": name}},
            "spec": {
                "nodeName": self.name, "terminationGracePeriodSeconds": 5, "containers": listed,
                "automountServiceAccountToken": False, **spec,
            },
        }  # fmt: skip
        self.post("/api/v1/namespaces/default/pods", body)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create an object."""
        status, answer = self.server.call("POST", path, body)
        assert status == 201, answer
        return answer

    def pod(self, name: str, namespace: str = "default") -> dict[str, Any] | None:
        """Return the pod as the API server has it."""
        status, pod = self.server.call("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")
        return pod if status == 200 else None

    def until(self, condition: Callable[[], Result | None], seconds: float = PATIENCE) -> Result:
        """Wait until a condition holds and return its value; a failure shows what the node's programs logged."""
        return until(condition, seconds, not_yet=(ConnectionError,), story=self._story)

    def until_pod(
        self, name: str, condition: Callable[[dict[str, Any]], object], seconds: float = PATIENCE
    ) -> dict[str, Any]:
        """Wait until a condition holds for a pod; return the pod."""

        def check() -> dict[str, Any] | None:
            pod = self.pod(name)
            return pod if pod is not None and condition(pod) else None

        def story() -> str:
            return f"{json.dumps((self.pod(name) or {}).get('status'), indent=1)}\n{self._story()}"

        return until(check, seconds, not_yet=(ConnectionError,), story=story)

    def until_ready(self, name: str) -> dict[str, Any]:
        """Wait until a pod is ready; return it."""
        return self.until_pod(name, is_ready)

    def delete(self, name: str) -> None:
        """Delete a pod and wait until nothing is left of it."""
        pod = self.pod(name)
        assert pod is not None
        self.server.call("DELETE", f"/api/v1/namespaces/default/pods/{name}")
        self.until(lambda: self.pod(name) is None)
        self.until(lambda: not self.traces(pod["metadata"]["uid"]))

    def traces(self, uid: str) -> list[str]:
        """Return what is left of a pod: folders, mounts, control groups, logs, containers."""
        traces = [str(path) for path in (self.directory / "kubelet" / "pods").glob(uid)]
        traces += [str(path) for path in (self.directory / "logs").glob(f"*_{uid}")]
        traces += [
            line
            for line in Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
            if uid in line
        ]
        hierarchies = (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir())
        for hierarchy in hierarchies:  # os.walk does not mind what goes meanwhile
            for path, names, _ in os.walk(hierarchy / self.cgroup_root.strip("/")):
                traces += [os.path.join(path, name) for name in names if name == f"pod{uid}"]
        return traces

    def _story(self) -> str:
        return (self.directory / "kubelet.log").read_text()[-3000:]

    def close(self) -> None:
        """Stop everything and remove what is left."""
        if self.kubelet is not None and self.kubelet.poll() is None:
            self.stop_kubelet(signal.SIGKILL)
        self.runner.run(self._remove_pods())
        self.stop_containerd(signal.SIGTERM)
        self.runner.close()
        PodCgroups(self.cgroup_root).remove_all()

    async def _remove_pods(self) -> None:
        from pybernetes.node.kubelet.cri.client import CriClient, CriError

        async def removed() -> bool:
            cri = CriClient(str(self.places.socket))
            try:
                for sandbox in await cri.list_pod_sandboxes():
                    await cri.stop_pod_sandbox(sandbox.id)
                    await cri.remove_pod_sandbox(sandbox.id)
                return True
            finally:
                await cri.close()

        await eventually(removed, not_yet=(CriError,))  # on a busy machine it may take long to connect
        from pybernetes.node.kubelet.volumes import host_mounts

        host_mounts.unmount_below(self.directory)


def shell(text: str, name: str = "c", **more: object) -> dict[str, object]:
    """Return a container that runs a shell script."""
    return {"name": name, "command": ["sh", "-c", text], **more}


def is_ready(pod: dict[str, Any]) -> bool:
    """Return whether a pod is ready."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def phase(wanted: str) -> Callable[[dict[str, Any]], bool]:
    """Return a condition: whether a pod is in a phase."""
    return lambda pod: pod["status"].get("phase") == wanted


def container(pod: dict[str, Any], name: str = "c", key: str = "containerStatuses") -> dict[str, Any]:
    """Return the status of a container."""
    return next((status for status in pod["status"].get(key, ()) if status["name"] == name), {"state": {}})


def waits_with(reason: str) -> Callable[[dict[str, Any]], bool]:
    """Return a condition: whether the container of a pod waits for a reason."""
    return lambda pod: container(pod)["state"].get("waiting", {}).get("reason") == reason


def _reap(pid: int) -> None:
    """Wait until a process, which need not be our child, is gone."""

    def is_gone() -> bool:
        try:
            return bool(os.waitpid(pid, os.WNOHANG)[0])
        except ChildProcessError:
            return not Path(f"/proc/{pid}").exists()

    until(is_gone)


@contextmanager
def real_node(directory: Path, *flags: str) -> Iterator[Node]:
    """Run a node for as long as the block runs, with nothing left of it afterwards."""
    require_root()
    for program in ("containerd", "runc", "catatonit", "busybox", "ip"):
        require_program(program)
    name = f"pyb-{os.getpid()}"
    with (
        network_namespace(name),
        running(directory, "--kubelet-preferred-address-types=InternalIP", "--allow-privileged") as server,
    ):
        node = Node(directory, server, *flags)
        node.start_containerd()
        try:
            node.start_kubelet()
            yield node
        finally:
            node.close()
            shutil.rmtree(node.places.root, ignore_errors=True)
