"""pyb bench scheduler: how many pods a scheduler binds per second, seen through a watch."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.harness.machine import CpuMeter, describe_machine, resident_megabytes
from bench.harness.workloads import HIGH, LABEL, LOW, NAMESPACE, WORKLOADS, Workload, node, pod
from pybernetes.client import kubeconfig as config
from pybernetes.client.client import JSON_PATCH, Client
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import NAMESPACES, NODES, PODS, PRIORITY_CLASSES, SERVICE_ACCOUNTS, SERVICES

SUMMARY = "a scheduler: bound pods per second with many nodes, one workload at a time"
_LANES = 24
_QUIET_SECONDS = 1.5
_CHURN_SECONDS = 0.1


def main(argv: list[str]) -> int:
    """Run the benchmark and print a line, or one JSON object last with --json."""
    options = _parser().parse_args(argv)
    try:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(Bench(options).run())
    except (config.ConfigError, StatusError, OSError, RuntimeError, TimeoutError) as error:
        print(f"pyb bench scheduler: {type(error).__name__}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyb bench scheduler", description=__doc__)
    parser.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG"), help="where the server is")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--workload", choices=tuple(WORKLOADS), default="basic")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object, last")
    parser.add_argument(
        "--pid", type=int, help="process of the scheduler: it is weighed, and paused for --hold=pause"
    )
    parser.add_argument(
        "--server-pid",
        type=int,
        action="append",
        default=[],
        help="a process of the API server or of its store, to tell what it used meanwhile; as often as needed",
    )
    parser.add_argument(
        "--scheduler-command", help="starts the scheduler once the pods are there (--hold=start)"
    )
    parser.add_argument(
        "--one-process",
        action="store_true",
        help="starts API server, controllers and scheduler in one process, and measures that",
    )
    parser.add_argument("--scheduler-name", default="", help="schedulerName of the pods")
    parser.add_argument(
        "--hold", choices=("taint", "pause", "start", "none"),
        help="how pods are kept waiting until all are there: nodes are tainted (default), the process is paused, it is "
             "not started yet, or not at all",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=900, help="seconds until it gives up")
    parser.add_argument("--keep", action="store_true", help="leave everything in the cluster at the end")
    return parser


class Bench:
    """One measurement."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        if not options.kubeconfig and not options.one_process:
            raise config.ConfigError("no kubeconfig given: use --kubeconfig FILE or --one-process")
        self.workload: Workload = WORKLOADS[options.workload](options.nodes, options.pods)
        self.hold = options.hold or ("start" if options.scheduler_command or options.one_process else "taint")
        self.process: subprocess.Popen[bytes] | None = None
        self.directory: tempfile.TemporaryDirectory[str] | None = None
        kubeconfig = self._one_process() if options.one_process else options.kubeconfig
        self.client: Client = config.load(kubeconfig).client(user_agent="pyb-bench")
        self.created: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.refused: set[str] = set()  # pods of which the scheduler said that they fit nowhere
        self.first_refused = float("inf")
        self.last_change = 0.0

    def _one_process(self) -> str:
        """Start a control plane, and return the kubeconfig for it."""
        self.directory = tempfile.TemporaryDirectory(prefix="pyb-bench-")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.harness.held_control_plane", self.directory.name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        kubeconfig = Path(self.directory.name, "kubeconfig")
        while not kubeconfig.exists():
            if self.process.poll() is not None:
                raise RuntimeError(f"the control plane ended with code {self.process.returncode}")
            time.sleep(0.05)
        return str(kubeconfig)

    @property
    def pid(self) -> int | None:
        """The process of the scheduler, if it is known."""
        return self.process.pid if self.process is not None else self.options.pid

    async def run(self) -> int:
        """Prepare, measure, clean up and report."""
        watch: asyncio.Task[None] | None = None
        try:
            async with asyncio.timeout(self.options.timeout):
                await self._prepare()
                version = (await self.client.list_page(PODS, NAMESPACE, limit=1)).resource_version
                watch = asyncio.create_task(self._watch(version))
                result = await self._measure()
        finally:
            if watch is not None:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)
            self._resume()
            if self.process is not None:
                self.process.terminate()
                self.process.wait(30)
            if not self.options.keep and not self.directory:
                await self._clean_up()
            await self.client.close()
            if self.directory is not None:
                self.directory.cleanup()
        line = (
            f"{result['workload']}: {result['nodes']} nodes, {result['pods']} pods: "
            f"{result['pods_per_second']} pods/s bound ({result['seconds']} s)"
        )
        print(line, file=sys.stderr if self.options.json else sys.stdout, flush=True)
        if self.options.json:
            print(json.dumps(result))
        return 0

    # -- before ------------------------------------------------------------------------------------------

    async def _prepare(self) -> None:
        await self._clean_up()
        _say(f"creating {self.options.nodes} nodes")
        await self._create_quietly(NAMESPACES, {"metadata": {"name": NAMESPACE}})
        for name, value in ((LOW, 0), (HIGH, 1000)):
            await self._create_quietly(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
        # Without a controller manager nobody makes the account that pods run as.
        await self._create_quietly(
            SERVICE_ACCOUNTS, {"metadata": {"name": "default", "namespace": NAMESPACE}}
        )
        nodes = [node(number, self.workload.zones) for number in range(self.options.nodes)]
        if self.hold != "taint":
            for obj in nodes:
                obj["spec"] = {}
        await self._for_all(self._create_node, nodes)
        if self.workload.placed:
            _say(f"creating {len(self.workload.placed)} pods on nodes")
            await self._for_all(self._create_pod, self.workload.placed)

    async def _create_quietly(self, kind: Any, obj: dict[str, Any]) -> None:
        with suppress(AlreadyExists):
            await self.client.create(kind, obj)

    async def _create_node(self, obj: dict[str, Any]) -> None:
        created = await self.client.create(NODES, obj)
        taints = obj["spec"].get("taints", [])
        if created["spec"].get("taints", []) != taints:  # a new node is tainted as not ready
            patch = [{"op": "add", "path": "/spec/taints", "value": taints}]
            await self.client.patch(NODES, obj["metadata"]["name"], patch, type=JSON_PATCH)

    async def _create_pod(self, obj: dict[str, Any]) -> None:
        if self.options.scheduler_name and "nodeName" not in obj["spec"]:
            obj["spec"]["schedulerName"] = self.options.scheduler_name
        await self.client.create(PODS, obj)

    async def _for_all(self, work: Any, items: Iterable[Any]) -> None:
        """Do something for every item, several at a time."""
        left = iter(items)

        async def lane() -> None:
            for item in left:
                await work(item)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(_LANES):
                    group.create_task(lane())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0]

    # -- measuring ---------------------------------------------------------------------------------------

    async def _watch(self, version: str) -> None:
        """Note when pods are bound, and when they are refused."""
        while True:
            async with self.client.watch(PODS, NAMESPACE, resource_version=version) as events:
                while batch := await events.batch():
                    now = time.perf_counter()
                    for type_, obj in batch:
                        if type_ in ("ADDED", "MODIFIED"):
                            self._note(obj, now)
                version = events.resource_version

    def _note(self, obj: dict[str, Any], now: float) -> None:
        name = obj["metadata"]["name"]
        self.last_change = now
        if obj["spec"].get("nodeName"):
            if name.startswith("measured-"):
                self.bound.setdefault(name, now)
        elif any(
            condition.get("status") == "False" for condition in obj.get("status", {}).get("conditions", ())
        ):
            self.refused.add(name)
            self.first_refused = min(self.first_refused, now)

    async def _measure(self) -> dict[str, Any]:
        if self.workload.waiting:
            _say(f"creating {len(self.workload.waiting)} pods that fit nowhere")
            await self._for_all(self._create_pod, self.workload.waiting)
        if self.hold == "pause":
            self._signal(signal.SIGSTOP)
        _say(f"creating {self.options.pods} pods")
        begin = time.perf_counter()
        await self._for_all(
            self._create_pod, (self.workload.pod(number) for number in range(self.options.pods))
        )
        create_seconds = time.perf_counter() - begin
        if self.hold == "taint":
            everything = self.options.pods + len(self.workload.waiting)
            await self._until(lambda: len(self.refused | self.bound.keys()) >= everything)
        if self.hold != "none":
            await self._until(lambda: time.perf_counter() - self.last_change > _QUIET_SECONDS)
        churn = asyncio.create_task(self._churn()) if self.workload.churn else None
        _say("scheduling")
        early = set(self.bound) if self.hold != "none" else set()  # on nodes that are not the benchmark's
        begin = time.perf_counter() if self.hold != "none" else begin
        servers: list[int] = self.options.server_pid
        cpu, server_cpu = _cpu_seconds(self.pid), sum(map(_cpu_seconds, servers))
        await self._release()
        meter = CpuMeter([*servers, *([self.pid] if self.pid is not None else [])])
        meter.begin()
        await self._until(lambda: len(self.bound) >= self.options.pods)
        load = meter.end()
        if churn is not None:
            churn.cancel()
            await asyncio.gather(churn, return_exceptions=True)
        moments = sorted(moment for name, moment in self.bound.items() if name not in early)
        if not moments:
            raise RuntimeError("all pods found room on nodes that are not the benchmark's")
        # A scheduler that is only now started does not count until it binds or refuses its first pod.
        first = min(moments[0], self.first_refused) if self.hold in ("start", "pause") else begin
        seconds = moments[-1] - first
        result: dict[str, Any] = {
            "benchmark": "scheduler",
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "workload": self.options.workload,
            "nodes": self.options.nodes,
            "pods": self.options.pods,
            "hold": self.hold,
            "one_process": self.options.one_process,
            "pods_per_second": round(len(moments) / seconds, 1),
            "seconds": round(seconds, 3),
            "seconds_to_first": round(first - begin, 3),
            "bound_before": len(early),
            "creates_per_second": round(self.options.pods / create_seconds, 1),
            "machine": describe_machine(),
        }
        if self.pid is not None:
            result["scheduler_cpu_seconds"] = round(_cpu_seconds(self.pid) - cpu, 2)
            result["scheduler_megabytes"] = resident_megabytes(self.pid)
            # What everybody else but the benchmark used, in cores: above 0.2 somebody disturbed the measurement.
            result["others"] = load["other_load"]
        if servers:
            result["server_cpu_seconds"] = round(sum(map(_cpu_seconds, servers)) - server_cpu, 2)
            result["server_megabytes"] = sum(map(resident_megabytes, servers))
        return result

    async def _release(self) -> None:
        """Let the scheduler begin."""
        if self.hold == "taint":

            async def free(number: int) -> None:
                patch = [{"op": "remove", "path": "/spec/taints"}]
                await self.client.patch(NODES, f"bench-node-{number}", patch, type=JSON_PATCH)

            await self._for_all(free, range(self.options.nodes))
        elif self.hold == "pause":
            self._resume()
        elif self.directory is not None and self.process is not None:
            self.process.send_signal(signal.SIGUSR1)
        elif self.hold == "start":
            command = shlex.split(self.options.scheduler_command or "")
            if not command:
                raise RuntimeError("--hold=start needs --scheduler-command")
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _signal(self, number: int) -> None:
        if self.options.pid is None:
            raise RuntimeError("--hold=pause needs --pid")
        os.kill(self.options.pid, number)

    def _resume(self) -> None:
        if self.hold == "pause" and self.options.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.options.pid, signal.SIGCONT)

    async def _until(self, condition: Any) -> None:
        while not condition():
            if self.process is not None and self.process.poll() is not None:
                raise RuntimeError(f"the scheduler ended with code {self.process.returncode}")
            await asyncio.sleep(0.02)

    async def _churn(self) -> None:
        """Create and delete a node, a pod that fits nowhere and a service, over and over."""
        number = 0
        while True:
            number += 1
            name = f"bench-churn-{number}"
            obj = node(number, self.workload.zones)
            obj["metadata"]["name"] = obj["metadata"]["labels"]["kubernetes.io/hostname"] = name
            service = {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"ports": [{"port": 80}]}}
            await self.client.create(NODES, obj)
            await self.client.create(PODS, pod(name, cpu="9", priorityClassName=HIGH))
            await self.client.create(SERVICES, service)
            await asyncio.sleep(_CHURN_SECONDS)
            await self.client.delete(SERVICES, name, NAMESPACE)
            await self.client.delete(PODS, name, NAMESPACE, grace=0)
            await self.client.delete(NODES, name)

    # -- after -------------------------------------------------------------------------------------------

    async def _clean_up(self) -> None:
        """Remove all but the namespace, which would never go without a controller manager."""
        _say("cleaning up")
        try:
            await self.client.delete_collection(PODS, NAMESPACE, grace=0)
            for service in (await self.client.list(SERVICES, NAMESPACE)).items:
                await self.client.delete(SERVICES, service["metadata"]["name"], NAMESPACE)
            await self.client.delete_collection(NODES, labels=LABEL)
            await self._until_gone()
        except (NotFound, AlreadyExists):
            pass

    async def _until_gone(self) -> None:
        while (await self.client.list_page(PODS, NAMESPACE, limit=1)).items:
            await self.client.delete_collection(PODS, NAMESPACE, grace=0)


def _cpu_seconds(pid: int | None) -> float:
    """Return what a process has used so far."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            parts = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def _say(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)
