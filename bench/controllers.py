"""pyb bench controllers: how fast controllers make and delete, against any cluster or with everything in one process."""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from bench.harness.machine import describe_machine, processor_seconds, resident_megabytes
from bench.harness.namespace_readiness import default_service_account
from pybernetes.client import NotFound
from pybernetes.client.client import Client
from pybernetes.client.refs import DEPLOYMENTS, NAMESPACES, PODS
from pybernetes.runtime import Informer

SUMMARY = (
    "controllers: a Deployment of 5,000, 1,000 Deployments of 3, deletion; in one process or on any cluster"
)
# Nobody schedules these pods: it is the controllers that are measured.
SCHEDULER = "nobody"


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench controllers", description=__doc__)
    parser.add_argument(
        "--kubeconfig", help="a cluster with controllers; without it all is started in this process"
    )
    parser.add_argument("--replicas", type=int, default=5000, help="pods of the one large Deployment")
    parser.add_argument(
        "--deployments", type=int, default=1000, help="how many small ones, with three pods each"
    )
    parser.add_argument(
        "--storage", default="memory", choices=("memory", "sqlite"), help="where the one process keeps it"
    )
    parser.add_argument(
        "--pid", type=int, action="append", default=[], help="process of the cluster to weigh"
    )
    parser.add_argument("--seconds", type=float, default=600, help="how long to wait for a step")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(_measure(options))
    if options.json:
        print(json.dumps({"benchmark": "controllers", "machine": describe_machine(), "results": figures}))
        return 0
    print(f"{'work':<40}{'objects':>9}{'seconds':>10}{'per s':>10}{'CPU s':>9}{'MB':>8}")
    for name, figure in figures.items():
        rate = figure["count"] / figure["seconds"] if figure["count"] else 0
        print(f"{name:<40}{figure['count']:>9}{figure['seconds']:>10.2f}{rate:>10.0f}{figure['cpu']:>9.2f}{figure['megabytes']:>8.0f}")  # fmt: skip
    return 0


async def _measure(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    if options.kubeconfig:
        from pybernetes.client import kubeconfig

        async with kubeconfig.load(options.kubeconfig).client(user_agent="bench-controllers") as client:
            return await _steps(options, client, options.pid)
    async with one_process(options.storage) as client:
        return await _steps(options, client, [os.getpid()])


@asynccontextmanager
async def one_process(storage: str) -> AsyncIterator[Client]:
    """Return an API server and all controllers in this process, and a client for them."""
    from pybernetes.cmd.kube_apiserver import parser as server_flags
    from pybernetes.control_plane.apiserver.assembly import setup
    from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
    from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, MASTERS, User
    from pybernetes.control_plane.apiserver.inprocess.transport import InProcessTransport
    from pybernetes.control_plane.controllers._controller_manager import registry
    from pybernetes.lib import flags
    from pybernetes.runtime import Manager

    with tempfile.TemporaryDirectory() as directory:
        given = server_flags().parse_args(
            ["--bind-address=127.0.0.1", "--secure-port=0", f"--storage-backend={storage}", f"--cert-dir={directory}",
             *([f"--data-dir={directory}/data"] if storage == "sqlite" else [])]
        )  # fmt: skip
        configured = setup.settings(given)
        server = ApiServer(setup.store(given, configured), configured)
        await server.start()
        client = Client(
            InProcessTransport(server.http.application, User("bench", groups=(MASTERS, AUTHENTICATED)))
        )
        known = registry.descriptors()
        settings = flags.defaults(registry.flags(known))
        manager = Manager(client)
        registry.add_all(manager, registry.select(("*",), known), settings)
        work = asyncio.create_task(manager.run())
        try:
            await manager.working.wait()
            yield client
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await server.stop()


class Meter:
    """Times a step and what it cost."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self.figures: dict[str, dict[str, float]] = {}

    @asynccontextmanager
    async def step(self, name: str, count: int) -> AsyncIterator[None]:
        """Measure what is done in its context."""
        print(f"… {name}", file=sys.stderr, flush=True)
        cpu, begin = self._cpu(), time.perf_counter()
        yield
        self.figures[name] = {
            "count": count, "seconds": time.perf_counter() - begin, "cpu": self._cpu() - cpu,
            "megabytes": sum(resident_megabytes(pid) for pid in self._pids),
        }  # fmt: skip

    def _cpu(self) -> float:
        return sum(processor_seconds(pid) for pid in self._pids)


async def _steps(options: argparse.Namespace, client: Client, pids: list[int]) -> dict[str, dict[str, float]]:
    namespace = f"bench-{uuid.uuid4().hex[:8]}"
    meter = Meter(pids)
    pods = Informer(client, PODS, namespace, metadata_only=True)
    watching = asyncio.create_task(pods.run())

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(options.seconds):
            while not condition():
                await asyncio.sleep(0.01)

    await client.create(NAMESPACES, {"metadata": {"name": namespace}})
    try:
        await pods.wait_synced()
        await default_service_account(client, namespace, options.seconds)
        size = options.replicas
        async with meter.step(f"one Deployment of {size}", size):
            await client.create(DEPLOYMENTS, _deployment("large", size), namespace)
            await until(lambda: len(pods) >= size)
        async with meter.step("idle for 3 seconds", 0):
            await asyncio.sleep(3)
        async with meter.step("scaled to 0", size):
            await client.patch(DEPLOYMENTS, "large", {"spec": {"replicas": 0}}, namespace)
            await until(lambda: len(pods) == 0)
        many = options.deployments
        async with meter.step(f"{many} Deployments of 3", 3 * many):
            await asyncio.gather(*(
                client.create(DEPLOYMENTS, _deployment(f"small-{number}", 3), namespace) for number in range(many)
            ))  # fmt: skip
            await until(lambda: len(pods) >= 3 * many)
        async with meter.step("deletion of the namespace", 5 * many):
            await client.delete(NAMESPACES, namespace)
            await _gone(client, namespace, options.seconds)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        try:
            await client.delete(NAMESPACES, namespace)
        except NotFound:
            pass
    return meter.figures


async def _gone(client: Client, namespace: str, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while True:
            try:
                await client.get(NAMESPACES, namespace)
            except NotFound:
                return
            await asyncio.sleep(0.05)


def _deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    container = {
        "name": "main",
        "image": "example/image:1",
        "resources": {"requests": {"cpu": "10m", "memory": "8Mi"}},
    }
    spec = {"containers": [container], "schedulerName": SCHEDULER}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
