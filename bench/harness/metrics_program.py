"""metrics-server as a program of its own, with an API server that holds the nodes and pods that kubelets speak of."""

import asyncio
import contextlib
import json
import os
import socket
import ssl
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

from bench.harness.kubelet_answers import NAMESPACE, pod_name
from bench.harness.machine import resident_megabytes
from bench.harness.own_server import OwnServer
from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig
from pybernetes.client.client import Client
from pybernetes.client.refs import NAMESPACES, NODES, PODS

_AT_ONCE = 32
_ROOT = "/apis/metrics.k8s.io/v1beta1"


def node(number: int, port: int) -> Object:
    """Return a node whose kubelet answers at a port of this machine."""
    return {
        "metadata": {"name": f"node-{number}", "labels": {"kubernetes.io/hostname": f"node-{number}"}},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        },
    }


def _pod(number: int, pod: int) -> Object:
    return {
        "metadata": {"name": pod_name(number, pod), "labels": {"app": f"application-{number}-{pod}"}},
        "spec": {"nodeName": f"node-{number}", "containers": [{"name": "main", "image": "registry.local/app:1"}],
                 "automountServiceAccountToken": False},
    }  # fmt: skip


async def measure(ports: list[int], authority: Path, pods: int) -> dict[str, float]:
    """Return what the whole program takes while it asks kubelets and tells of all nodes and pods."""
    with OwnServer("--alone", "--disable-admission-plugins=ServiceAccount") as api:
        async with kubeconfig.load(api.kubeconfig).client(user_agent="bench") as client:
            await _fill(client, ports, pods)
        async with _program(api.kubeconfig, authority) as (pid, port):
            bare, figures = resident_megabytes(pid), dict[str, float]()
            began = time.monotonic()
            figures["nodes in first answer"] = await asyncio.to_thread(_ask, port, "nodes")
            figures["first answer, s"] = time.monotonic() - began
            figures["all nodes told, s"] = figures["first answer, s"] + await _told(port, "nodes", len(ports))
            figures["first answer after pair, s"] = figures["first answer, s"] - await _pair_seconds(port)
            figures["memory then MB, nodes"] = resident_megabytes(pid)
            figures["all pods told, s"] = await _told(port, "pods", len(ports) * pods)
            figures["memory then MB, pods"] = resident_megabytes(pid)
            await asyncio.sleep(25)  # two more rounds
            assert await asyncio.to_thread(_ask, port, "pods") == len(ports) * pods
            return {"program at rest MB": bare, **figures, "program memory MB": resident_megabytes(pid),
                    "program's peak MB": _peak(pid)}  # fmt: skip


async def _pair_seconds(port: int) -> float:
    """Return how long it took to get the first two samples of all nodes, once they are there."""
    name = "metrics_server_manager_tick_duration_seconds"
    for _ in range(600):
        lines = (await asyncio.to_thread(_read, port, "/metrics")).decode().splitlines()
        figures = {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith((f"{name}_sum", f"{name}_count"))}  # fmt: skip
        if figures[f"{name}_count"]:
            return figures[f"{name}_sum"] / figures[f"{name}_count"]
        await asyncio.sleep(0.1)
    raise AssertionError("there is no first pair of samples")


async def _told(port: int, path: str, count: int) -> float:
    """Return after how many seconds an answer has them all; the first one is of those that were quick."""
    began = time.monotonic()
    while (items := await asyncio.to_thread(_ask, port, path)) != count:
        assert time.monotonic() - began < 60, f"{items} {path}, not {count}"
        await asyncio.sleep(0.1)
    return time.monotonic() - began


def _peak(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


async def _fill(client: Client, ports: list[int], pods: int) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)
    with contextlib.suppress(Exception):  # it may be there
        await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})

    async def one(number: int, port: int) -> None:
        async with turns:
            made = node(number, port)
            await client.create(NODES, made)
            await client.patch_status(NODES, made["metadata"]["name"], {"status": made["status"]})
            for pod in range(pods):
                await client.create(PODS, _pod(number, pod), NAMESPACE)

    async with asyncio.TaskGroup() as group:
        for number, port in enumerate(ports):
            group.create_task(one(number, port))


@contextlib.asynccontextmanager
async def _program(config: str, authority: Path) -> AsyncIterator[tuple[int, int]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryFile("w+") as log:
        command = [
            sys.executable, "-m", "pybernetes.cmd.main", "metrics-server", f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}", "--bind-address=127.0.0.1",
            f"--secure-port={port}", "--metric-resolution=12s", "--kubelet-use-node-status-port",
            "--kubelet-preferred-address-types=InternalIP", f"--kubelet-certificate-authority={authority}",
        ]  # fmt: skip
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log, env=environment)
        try:
            for _ in range(600):
                log.seek(0)
                if "is serving" in log.read():
                    break
                assert process.returncode is None
                await asyncio.sleep(0.1)
            yield process.pid, port
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


def _ask(port: int, path: str) -> int:
    return len(json.loads(_read(port, f"{_ROOT}/{path}"))["items"])


def _read(port: int, path: str) -> bytes:
    request = urllib.request.Request(
        f"https://127.0.0.1:{port}{path}", headers={"Authorization": "Bearer bench"}
    )
    unverified = ssl._create_unverified_context()  # the certificate is the program's own
    with urllib.request.urlopen(request, context=unverified, timeout=60) as answer:
        data: bytes = answer.read()
    return data
