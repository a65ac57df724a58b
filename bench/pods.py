"""pyb bench pods: how long real pods take to run, beside the bare calls to the container runtime.

It needs root: it makes a local cluster of its own with one node and removes it, unless it is told to use one
that runs already.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.harness.machine import CpuMeter, describe_machine, processor_seconds, resident_megabytes
from bench.harness.namespace_readiness import default_service_account
from pybernetes.client.client import Client
from pybernetes.client.refs import NAMESPACES, PODS
from pybernetes.lib import oci
from pybernetes.runtime import Informer

SUMMARY = (
    "real pods: one after another, 50 at once, 100 idle with probes, beside the bare calls to the runtime"
)
IMAGE = "docker.io/library/bench-pods:1"
_PORT = 8080
# A node whose process has no other agent in it, for it is the kubelet that is weighed.
_KUBELET_ALONE = {"nodes": 1, "proxy_mode": "none", "cni": "none", "kubelet_arguments": ["--cni-bridge=cni0"]}


class Figures(dict[str, float]):
    """What was measured, by what it is; each is also told at once, since some take a while."""

    def __setitem__(self, name: str, value: float) -> None:
        print(f"… {name}: {value:.1f}", file=sys.stderr, flush=True)
        super().__setitem__(name, value)


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail where a limit is passed."""
    parser = argparse.ArgumentParser(prog="pyb bench pods", description=__doc__)
    parser.add_argument("--cluster", default="", help="a local cluster that runs, instead of one of its own")
    parser.add_argument("--serial", type=int, default=20, help="pods one after another")
    parser.add_argument("--at-once", type=int, default=50, help="pods at once")
    parser.add_argument("--idle", type=int, default=100, help="pods with probes that stay")
    parser.add_argument("--idle-seconds", type=float, default=30, help="how long they are watched")
    parser.add_argument("--check", action="store_true", help="fail if a figure is over its limit")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    with _cluster(options.cluster) as name:
        figures = asyncio.run(_measure(options, name))
    if options.json:
        print(json.dumps({"benchmark": "pods", "machine": describe_machine(), "results": figures}))
    else:
        for text, value in figures.items():
            print(f"{text:<64}{value:>10.1f}")
    over = [name for name, limit in _limits(options).items() if figures.get(name, 0) > limit]
    if over and options.check:
        print(f"over the limit: {', '.join(over)}", file=sys.stderr)
        return 1
    return 0


def _limits(options: argparse.Namespace) -> dict[str, float]:
    return {
        "overhead over the bare calls, p50, ms": 100,
        f"{options.at_once} at once: overhead over the bare calls, p50, ms": 100,
        f"kubelet with {options.idle} idle pods, % of a core": 5,
        f"kubelet with {options.idle} idle pods, MB": 80,
    }


@contextmanager
def _cluster(name: str) -> Iterator[str]:
    """Return the name of a local cluster that runs."""
    if name:
        yield name
        return
    from pybernetes.tools.local import lifecycle
    from pybernetes.tools.local.paths import Cluster

    cluster = Cluster(f"bench-{uuid.uuid4().hex[:6]}")
    try:
        lifecycle.up(cluster, _KUBELET_ALONE, lambda *told: None, wait=60)
        yield cluster.name
    finally:
        lifecycle.delete(cluster)


def image() -> bytes:
    """Return an image that serves an empty page: Debian's static busybox."""
    program = shutil.which("busybox")
    if program is None:
        raise OSError("busybox is not installed: apt-get install busybox-static")
    files = {"bin/busybox": oci.File(Path(program).read_bytes(), 0o755), "www/index.html": oci.File(b"ok")}
    command = ("/bin/busybox", "httpd", "-f", "-p", str(_PORT), "-h", "/www")
    return oci.archive(IMAGE, oci.layer(files), oci.Process(entrypoint=command))


async def _measure(options: argparse.Namespace, name: str) -> Figures:
    from pybernetes.client import kubeconfig
    from pybernetes.node.containerd import images
    from pybernetes.tools.local import lifecycle, settings
    from pybernetes.tools.local.paths import Cluster
    from pybernetes.tools.local.processes import containerd_socket

    cluster = Cluster(name)
    node = settings.load(cluster).nodes[0].name
    socket = containerd_socket(cluster, node)
    agent = lifecycle.running_processes(cluster)[f"node-{node}"]["pid"]
    async with kubeconfig.load(str(cluster.kubeconfig)).client(user_agent="bench-pods") as client:
        await images.load(socket, image())
        runtime = Runtime(f"unix://{socket}")
        try:
            figures = Figures()
            await _pods(options, client, runtime, agent, figures)
            return figures
        finally:
            await runtime.cri.close()


def _condition(obj: dict[str, Any], type_: str) -> bool:
    conditions = obj.get("status", {}).get("conditions", ())
    return any(condition["type"] == type_ and condition["status"] == "True" for condition in conditions)


class Runtime:
    """The container runtime itself, to do what the kubelet has it do without the kubelet."""

    def __init__(self, endpoint: str) -> None:
        from pybernetes.node.kubelet.cri.client import CriClient

        self.cri = CriClient(endpoint)

    async def pod(self, began: float) -> tuple[str, float]:
        """Make a sandbox, start a container in it, and return the sandbox and the milliseconds since the beginning."""
        from cri_api.v1 import api_pb2 as messages

        key = f"bare-{uuid.uuid4().hex[:8]}"
        sandbox = messages.PodSandboxConfig(
            metadata=messages.PodSandboxMetadata(name=key, namespace="bench", uid=key),
            hostname=key,
            linux=messages.LinuxPodSandboxConfig(),
        )
        container = messages.ContainerConfig(
            metadata=messages.ContainerMetadata(name="main"), image=messages.ImageSpec(image=IMAGE)
        )
        sandbox_id = await self.cri.run_pod_sandbox(sandbox)
        await self.cri.start_container(await self.cri.create_container(sandbox_id, container, sandbox))
        return sandbox_id, _milliseconds(began)

    async def pods(self, count: int) -> list[float]:
        """Do the same for some at once, remove them afterwards, and return the milliseconds of each."""
        began = time.perf_counter()
        started = await asyncio.gather(*(self.pod(began) for _ in range(count)))
        await asyncio.gather(*(self._remove(sandbox) for sandbox, _ in started))
        return [taken for _, taken in started]

    async def _remove(self, sandbox: str) -> None:
        await self.cri.stop_pod_sandbox(sandbox)
        await self.cri.remove_pod_sandbox(sandbox)

    async def until_empty(self, namespace: str) -> None:
        """Wait until nothing is left of the pods of a namespace: a pod is deleted before it is torn down."""
        from pybernetes.node.kubelet.cri import label_keys

        async with asyncio.timeout(240):
            while await self.cri.list_pod_sandboxes({label_keys.POD_NAMESPACE: namespace}):
                await asyncio.sleep(0.05)


def _milliseconds(began: float) -> float:
    return (time.perf_counter() - began) * 1000


class Watcher:
    """Notes when each pod of a namespace was first seen running, and ready."""

    def __init__(self) -> None:
        self.running: dict[str, float] = {}
        self.ready: dict[str, float] = {}
        self.failed: dict[str, str] = {}
        self.left: set[str] = set()
        self._changed = asyncio.Event()

    def __call__(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        now = time.perf_counter()
        if new is None:
            assert old is not None
            self.left.discard(old["metadata"]["name"])
        else:
            name = new["metadata"]["name"]
            self.left.add(name)
            if new["status"].get("phase") == "Failed":
                self.failed[name] = new["status"].get("reason", "")
            if new["status"].get("phase") == "Running":
                self.running.setdefault(name, now)
            if _condition(new, "Ready"):
                self.ready.setdefault(name, now)
        self._changed.set()

    async def until_ready(self, names: list[str]) -> None:
        """Wait until all of these pods are ready."""
        await self._until(lambda: self.failed or all(name in self.ready for name in names))
        if self.failed:
            raise RuntimeError(f"pods failed: {self.failed}")

    async def until_gone(self) -> None:
        """Wait until no pod is left."""
        await self._until(lambda: not self.left)

    async def _until(self, holds: Any) -> None:
        async with asyncio.timeout(240):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


async def _pods(
    options: argparse.Namespace, client: Client, runtime: Runtime, kubelet: int, figures: Figures
) -> None:
    namespace = f"bench-{uuid.uuid4().hex[:8]}"
    await client.create(NAMESPACES, {"metadata": {"name": namespace}})
    seen, pods = Watcher(), Informer(client, PODS, namespace)
    pods.add_handler(seen)
    watching = asyncio.create_task(pods.run())
    try:
        await pods.wait_synced()
        await default_service_account(client, namespace)
        if options.serial:
            await _serial(options.serial, client, runtime, namespace, seen, figures)
        if options.at_once:
            used = processor_seconds(kubelet)
            await _at_once(options.at_once, client, runtime, namespace, seen, figures)
            milliseconds = (processor_seconds(kubelet) - used) / options.at_once * 1000
            figures["kubelet: processor time for the whole life of a pod, ms"] = milliseconds
        if options.idle:
            await _idle(options, client, namespace, seen, kubelet, figures)
    finally:
        await client.delete(NAMESPACES, namespace)
        await seen.until_gone()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _serial(
    count: int, client: Client, runtime: Runtime, namespace: str, seen: Watcher, figures: Figures
) -> None:
    """Run bare pods and real ones in turn, so that both have the same machine."""
    bare, running, ready = [], [], []
    for number in range(count):
        bare += await runtime.pods(1)
        name = f"serial-{number}"
        began = time.perf_counter()
        await client.create(PODS, _pod(name), namespace)
        await seen.until_ready([name])
        running.append((seen.running[name] - began) * 1000)
        ready.append((seen.ready[name] - began) * 1000)
        await client.delete(PODS, name, namespace)
        await seen.until_gone()
        await runtime.until_empty(namespace)
    figures["bare calls (sandbox, create, start), p50, ms"] = statistics.median(bare)
    for what, taken in (("Running", running), ("Ready", ready)):
        figures[f"one after another: create to {what}, p50, ms"] = statistics.median(taken)
        figures[f"one after another: create to {what}, most, ms"] = max(taken)
    over = [ours - other for ours, other in zip(running, bare, strict=True)]
    figures["overhead over the bare calls, p50, ms"] = statistics.median(over)


async def _at_once(
    count: int, client: Client, runtime: Runtime, namespace: str, seen: Watcher, figures: Figures
) -> None:
    bare = await runtime.pods(count)
    figures[f"bare calls, {count} at once, p50, ms"] = statistics.median(bare)
    figures[f"bare calls, {count} at once, the last, ms"] = max(bare)
    names = [f"at-once-{number}" for number in range(count)]
    began = time.perf_counter()
    await asyncio.gather(*(client.create(PODS, _pod(name), namespace) for name in names))
    await seen.until_ready(names)
    for what, moments in (("Running", seen.running), ("Ready", seen.ready)):
        taken = [(moments[name] - began) * 1000 for name in names]
        figures[f"{count} at once: create to {what}, p50, ms"] = statistics.median(taken)
        figures[f"{count} at once: create to {what}, the last, ms"] = max(taken)
    running = [(seen.running[name] - began) * 1000 for name in names]
    over = statistics.median(running) - statistics.median(bare)
    figures[f"{count} at once: overhead over the bare calls, p50, ms"] = over
    over = (max(running) - max(bare)) / count
    figures[f"{count} at once: until the last, over the bare calls, ms per pod"] = over
    await asyncio.gather(*(client.delete(PODS, name, namespace) for name in names))
    await seen.until_gone()
    await runtime.until_empty(namespace)


async def _idle(
    options: argparse.Namespace, client: Client, namespace: str, seen: Watcher, kubelet: int, figures: Figures
) -> None:
    names = [f"idle-{number}" for number in range(options.idle)]
    await asyncio.gather(*(client.create(PODS, _pod(name, probes=True), namespace) for name in names))
    await seen.until_ready(names)
    await asyncio.sleep(5)  # what starting them left to do is not what is measured
    meter = CpuMeter([kubelet])
    meter.begin()
    before, began = processor_seconds(kubelet), time.perf_counter()
    await asyncio.sleep(options.idle_seconds)
    used = (processor_seconds(kubelet) - before) / (time.perf_counter() - began)
    figures[f"kubelet with {options.idle} idle pods, % of a core"] = used * 100
    figures[f"kubelet with {options.idle} idle pods, MB"] = resident_megabytes(kubelet)
    figures["others meanwhile, % of a core"] = meter.end()["other_load"] * 100


def _pod(name: str, probes: bool = False) -> dict[str, Any]:
    container: dict[str, Any] = {"name": "main", "image": IMAGE, "imagePullPolicy": "IfNotPresent"}
    if probes:
        probe = {"httpGet": {"path": "/", "port": _PORT}, "periodSeconds": 10}
        container |= {"readinessProbe": probe, "livenessProbe": probe}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    return {"metadata": {"name": name}, "spec": spec}
