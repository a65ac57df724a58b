"""What is attacked: API servers and a cluster that a checkout's ``pyb`` starts."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")
ADMIN = "admin-token"
IMAGE = "docker.io/library/attacker:1"
_PATIENCE = 90.0


def until(condition: Callable[[], Result], seconds: float = _PATIENCE) -> Result:
    """Return what a condition gives once it gives something, or its last value when it takes too long."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return value


def trusting() -> ssl.SSLContext:
    """Return the TLS of a client that trusts anybody: this is loopback."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@dataclass
class ApiServer:
    """An API server of its own, with its data in a folder."""

    port: int
    pid: int

    def call(
        self, method: str, path: str, body: object = None, media: str = "application/json"
    ) -> tuple[int, str]:
        """Send a request as an administrator; return status and body."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=trusting(), timeout=60)
        data = body.encode() if isinstance(body, str) else None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, {"Authorization": f"Bearer {ADMIN}", "Content-Type": media})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    @property
    def megabytes(self) -> float:
        """The resident memory of the server."""
        text = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(text) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


@dataclass
class Target:
    """A checkout. What it is asked to start ends with the attack, but the cluster, which all share."""

    pyb: Path
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="pyb-attacks-")))
    name: str = "attacked"  # of the cluster
    _cluster: str = ""

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *_: object) -> None:
        if self._cluster:
            self.run("delete", self._cluster)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(
        self, *words: str, text: str | None = None, seconds: float = 600
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the checkout."""
        command = [str(self.pyb), *words]
        # In its own folder: Python prefers what is in the folder where it is started.
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=seconds, cwd=self.pyb.parent
        )

    @contextlib.contextmanager
    def api_server(self, data: Path, *flags: str) -> Iterator[ApiServer]:
        """Start an API server that keeps its data in a folder."""
        tokens = self.folder / "tokens.csv"
        tokens.write_text(f'{ADMIN},admin,1,"system:masters"\n')
        command = [
            str(self.pyb), "kube-apiserver", "--bind-address=127.0.0.1", "--secure-port=0", f"--cert-dir={data}/certificates",
            f"--token-auth-file={tokens}", "--storage-backend=sqlite", f"--data-dir={data}/store",
            "--disable-admission-plugins=ServiceAccount", *flags,
        ]  # fmt: skip
        data.mkdir(parents=True, exist_ok=True)
        with (self.folder / "server.log").open("a") as log:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=self.pyb.parent
            )
        try:
            assert process.stdout is not None
            while "is serving on" not in (line := process.stdout.readline()):
                if process.poll() is not None:
                    raise RuntimeError("the server does not start")
            yield ApiServer(int(line.rpartition(":")[2]), process.pid)
        finally:
            process.terminate()
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):  # as after an attack that got through
                    process.wait(60)
            finally:  # also when this program is told to end meanwhile
                process.kill()
                process.wait(60)

    # -- a cluster with real containers --------------------------------------------------------------------

    @property
    def cluster(self) -> str:
        """The name of a cluster with a node and an image of busybox, which is made when first asked for."""
        if not self._cluster:
            self._cluster = self.name
            done = self.run("up", self._cluster, "--wait")
            assert done.returncode == 0, done.stderr
            root = self.folder / "image"
            for name in ("bin", "etc", "tmp", "work"):
                (root / name).mkdir(parents=True)
            shutil.copy("/usr/bin/busybox", root / "bin/busybox")
            for name in subprocess.run(["busybox", "--list"], capture_output=True, text=True).stdout.split():
                if name != "busybox":
                    (root / "bin" / name).symlink_to("busybox")
            (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n")
            words = ("--command", "sh", "--env", "PATH=/bin", "--cluster", self._cluster)
            done = self.run("image", "build", str(root), "--tag", IMAGE, *words)
            assert done.returncode == 0, done.stderr
        return self._cluster

    @property
    def home(self) -> Path:
        """The folder of the cluster."""
        return (
            Path(os.environ.get("PYBERNETES_HOME", "~/.pybernetes")).expanduser() / "clusters" / self.cluster
        )

    def kubectl(self, *words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run kubectl of the checkout against the cluster."""
        path = self.folder / "kubeconfig"
        if not path.exists():
            path.write_text(self.run("kubeconfig", self.cluster).stdout)
        return self.run("kubectl", f"--kubeconfig={path}", *words, text=text)

    def apply(self, *objects: dict[str, Any]) -> None:
        """Make objects in the cluster."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        done = self.kubectl("apply", "-f", "-", text=json.dumps(listed))
        assert done.returncode == 0, done.stderr

    def pod(self, name: str) -> dict[str, Any]:
        """Return a pod of the cluster, nothing if it is not there."""
        done = self.kubectl("get", "pod", name, "-o", "json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def settled(self, name: str) -> dict[str, Any]:
        """Return a pod once it runs, has ended, or says why it cannot."""

        def look() -> dict[str, Any] | None:
            pod = self.pod(name)
            status = pod.get("status", {})
            waits = [
                (container.get("state", {}).get("waiting") or {}).get("reason", "ContainerCreating")
                for container in status.get("containerStatuses", [])
            ]
            ended = status.get("phase") in ("Running", "Succeeded", "Failed")
            return (
                pod
                if ended or any(reason not in ("ContainerCreating", "PodInitializing") for reason in waits)
                else None
            )

        return until(look) or self.pod(name)

    def inside(self, name: str, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script in a pod."""
        return self.kubectl("exec", name, "--", "sh", "-c", script)

    def remove(self, *names: str) -> None:
        """Delete pods at once."""
        self.kubectl("delete", "pod", *names, "--now", "--ignore-not-found")


Attack = Callable[[Target], str]


def pod(name: str, *, restricted: bool = True, script: str = "sleep 3600", **spec: Any) -> dict[str, Any]:
    """Return a pod of busybox: as an ordinary user without any right, unless told otherwise."""
    container: dict[str, Any] = {"name": "main", "image": IMAGE, "command": ["sh", "-c", script]}
    container["imagePullPolicy"] = "Never"
    if restricted:
        container["securityContext"] = {
            "runAsUser": 1000, "runAsNonRoot": True, "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"},
        }  # fmt: skip
    container |= spec.pop("container", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }
