"""pyb bench up: from the command to a cluster that answers, and what an idle one costs. Needs root."""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.harness.machine import describe_machine, processor_seconds, resident_megabytes

SUMMARY = "a local cluster: time to the API, to nodes, to a service that answers by name; what idling costs"
NAME = "bench-up"
Figures = dict[str, Any]

WEB = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "image": "bench-web:1", "ports": [{"containerPort": 80}]}]},
}  # fmt: skip
SERVICE = {
    "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}  # fmt: skip
# Debian's busybox is linked without the library that looks names up: its wget fails in an image without one.
ASK = """b=/bin/busybox; until r=$($b nslookup web.default.svc.cluster.local) &&
a=$(echo "$r" | $b awk '/^Address/ {x=$NF} END {print x}') && printf 'GET / HTTP/1.0\\r\\n\\r\\n' | $b nc -w 1 $a 80 | $b grep hello; do $b sleep 0.05; done"""
CALLER = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "caller"},
    "spec": {"restartPolicy": "Never", "containers": [
        {"name": "caller", "image": "bench-web:1", "command": ["/bin/busybox", "sh", "-c", ASK]}]},
}  # fmt: skip


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench up", description=__doc__)
    parser.add_argument(
        "--idle", type=float, default=30, help="for how many seconds to watch an idle cluster"
    )
    parser.add_argument(
        "--hollow", type=int, default=100, help="hollow nodes of the large cluster; 0 leaves it out"
    )
    parser.add_argument("--pods", type=int, default=3000, help="pods of the large cluster")
    parser.add_argument(
        "--nodes", type=int, default=3, help="nodes of the cluster with several; 0 leaves it out"
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    if os.geteuid() or not shutil.which("busybox"):
        print("pyb bench up: real nodes need root, and the test image needs busybox-static", file=sys.stderr)
        return 1
    figures = one_node(options.idle)
    if options.nodes:
        figures |= several(options.nodes)
    if options.hollow:
        figures |= large(options.hollow, options.pods)
    if options.json:
        print(json.dumps({"benchmark": "up", "machine": describe_machine(), "results": figures}))
        return 0
    for name, value in figures.items():
        print(f"{name:<52}{value:>10.2f}")
    return 0


class Bench:
    """A cluster in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **os.environ,
            "PYBERNETES_HOME": str(home),
            "KUBECONFIG": str(home / "kubeconfig"),
        }

    def pyb(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "pybernetes.cmd.main", *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def kubectl(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["kubectl", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            input=stdin,
            timeout=300,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def create(self, *objects: Figures) -> None:
        self.kubectl(
            "create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        )

    def supervisor(self) -> int:
        return int((self.home / "clusters" / NAME / "supervisor.pid").read_text().split()[0])


@contextlib.contextmanager
def cluster() -> Iterator[Bench]:
    """Yield a folder for a cluster, which is deleted at the end."""
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(Path(home))
        try:
            yield bench
        finally:
            if (bench.home / "clusters" / NAME).exists():
                bench.pyb("delete", NAME)


def one_node(idle: float) -> Figures:
    """Measure the first minutes of a cluster with one node."""
    with cluster() as bench, tempfile.TemporaryDirectory() as folder:
        _web_image(Path(folder))
        began = time.monotonic()
        steps = _steps(bench.pyb("up", NAME, "--nodes", "1", "--wait"))
        ready = time.monotonic() - began
        bench.pyb("image", "build", folder, "--tag", "bench-web:1", "--cluster", NAME,
                  "--entrypoint", "/bin/busybox httpd -f -p 80 -h /www")  # fmt: skip
        bench.create(WEB, SERVICE, CALLER)
        bench.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=120s")
        running = time.monotonic() - began
        bench.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/caller", "--timeout=120s")
        answered = time.monotonic() - began
        return {
            "seconds to the API server ready": steps["the API server is ready"],
            "seconds to a ready node": ready,
            "seconds to a first pod ready, its image built": running,
            "seconds to its service answering by name": answered,
            **_idle(bench, idle),
        }


def _web_image(folder: Path) -> None:
    (folder / "bin").mkdir()
    (folder / "www").mkdir()
    shutil.copy(shutil.which("busybox") or "", folder / "bin" / "busybox")
    (folder / "www" / "index.html").write_text("hello\n")


def _steps(output: str) -> dict[str, float]:
    """Return when each step was done, from what ``pyb up`` printed."""
    rows = (line.split(None, 2) for line in output.splitlines() if " s  " in line)
    return {text: float(seconds) for seconds, _, text in rows}


def _idle(bench: Bench, seconds: float) -> Figures:
    """Return what our processes use when idle; the container runtime is not ours."""
    programs = json.loads((bench.home / "clusters" / NAME / "programs.json").read_text())
    ours = [process["pid"] for name, process in programs.items() if not name.startswith("containerd-")]
    time.sleep(5)  # what is still being set up is not idling
    before, supervisor = sum(map(processor_seconds, ours)), bench.supervisor()
    time.sleep(seconds)
    used = sum(map(processor_seconds, ours)) - before
    memory = sum(map(resident_megabytes, ours)) + _own_megabytes(supervisor)
    return {"idle: percent of one core": 100 * used / seconds, "idle: megabytes of our processes": memory}


def _own_megabytes(pid: int) -> float:
    line = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")
    )
    return int(line.split()[1]) / 1024


def several(count: int) -> Figures:
    """Measure several nodes at once."""
    with cluster() as bench:
        began = time.monotonic()
        bench.pyb("up", NAME, "--nodes", str(count), "--wait")
        return {f"seconds to {count} ready nodes": time.monotonic() - began}


def large(nodes: int, pods: int) -> Figures:
    """Measure many hollow nodes with many pods."""
    with cluster() as bench:
        began = time.monotonic()
        bench.pyb("up", NAME, "--hollow", str(nodes), "--wait")
        ready = time.monotonic() - began
        bench.kubectl("create", "deployment", "many", "--image=none", f"--replicas={pods}")
        _until(
            lambda: (
                bench.kubectl("get", "deployment", "many", "-o", "jsonpath={.status.readyReplicas}")
                == str(pods)
            )
        )
        return {
            f"seconds to {nodes} ready hollow nodes": ready,
            f"seconds to {pods} ready pods on them": time.monotonic() - began,
        }


def _until(condition: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("the pods did not become ready")
        time.sleep(0.2)
