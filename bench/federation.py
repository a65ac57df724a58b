"""pyb bench federation: how long a change takes to be in all clusters of a federation, and what its control plane costs."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

from bench.harness.machine import describe_machine, processor_seconds, resident_megabytes
from bench.harness.member_clusters import TOKEN
from bench.harness.own_server import OwnServer
from pybernetes.client import kubeconfig
from pybernetes.client.client import Client
from pybernetes.client.credentials import Authority, Token
from pybernetes.client.kubeconfig import Config
from pybernetes.client.refs import DEPLOYMENTS, NAMESPACES, Ref
from pybernetes.control_plane.federation.kinds import NAMESPACE
from pybernetes.tools.federation import host_objects, installing, joining
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.federation.session import Session

SUMMARY = (
    "federation: seconds from a change of templates to all members, memory and idle cost of the control plane"
)
FEDERATED = Ref("types.kubefed.io", "v1beta1", "federateddeployments", "FederatedDeployment")
FEDERATED_NAMESPACES = Ref("types.kubefed.io", "v1beta1", "federatednamespaces", "FederatedNamespace")
_PLACED: dict[str, Any] = {"placement": {"clusterSelector": {}}}
_AT_ONCE, _LOOK_SECONDS, _MOST_SECONDS = 16, 0.5, 900.0
# Members roll out what they were given for minutes: at rest is who uses less than this share of a core, three times.
_LOOK_AT_REST, _AT_REST, _CALM_SECONDS = 4.0, 0.015, 240.0
Figures = dict[str, float]


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench federation", description=__doc__)
    add = parser.add_argument
    add("--clusters", type=int, default=50)
    add("--deployments", type=int, default=200)
    add("--replicas", type=int, default=1, help="of each Deployment in each cluster")
    add(
        "--hollow",
        type=int,
        default=4,
        help="hollow nodes of each member, with room for 110 pods each; -1: members are API servers without controllers",
    )
    add("--processes", type=int, default=2, help="that the members are in")
    add("--idle", type=float, default=30.0, help="seconds for which the control plane is watched at rest")
    add("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        figures = runner.run(measure(options))
    if options.json:
        print(json.dumps({"benchmark": "federation", "machine": describe_machine(), "figures": figures}))
        return 0
    for name, value in figures.items():
        print(f"{name:<66} {value:10.2f}")
    return 0


async def measure(options: argparse.Namespace) -> Figures:
    """Return all figures; everything that was started ends."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pyb-bench-")))
        host = stack.enter_context(OwnServer("--alone"))
        members = _start_members(stack, folder, options)
        async with AsyncExitStack() as clients:
            client = await clients.enter_async_context(kubeconfig.load(host.kubeconfig).client())
            await _install(host.kubeconfig, client)
            await _join(client, members)
            manager = _start_manager(stack, host.kubeconfig, folder)
            return await _figures(client, members, manager.pid, options)


def _start_members(stack: ExitStack, folder: Path, options: argparse.Namespace) -> list[Config]:
    """Start the members, in a few processes, and return how each is reached."""
    started = []
    for number in range(options.processes):
        count = options.clusters // options.processes + (number < options.clusters % options.processes)
        place = folder / f"members-{number}"
        place.mkdir()
        command = [
            sys.executable,
            "-m",
            "bench.harness.member_clusters",
            str(place),
            str(count),
            str(options.hollow),
        ]
        process = _popen(
            stack, command, folder / f"members-{number}.log", stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append((process, count))
    result = []
    for process, count in started:
        assert process.stdout is not None
        for _ in range(count):
            row = json.loads(process.stdout.readline() or "{}")
            result.append(Config(row["server"], Token(Authority(Path(row["authority"])), TOKEN)))
    return result


def _popen(stack: ExitStack, command: list[str], log: Path, **streams: Any) -> subprocess.Popen[bytes]:
    file = stack.enter_context(log.open("wb"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, env=environment, stderr=file, **streams)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def _start_manager(stack: ExitStack, file: str, folder: Path) -> subprocess.Popen[bytes]:
    program = ("-m", "pybernetes.cmd.main", "kubefed-controller-manager")
    flags = (f"--kubeconfig={file}", "--leader-elect=false", "--secure-port=0")
    return _popen(
        stack, [sys.executable, *program, *flags], folder / "manager.log", stdout=subprocess.DEVNULL
    )


async def _install(file: str, client: Client) -> None:
    arguments = argparse.Namespace(
        kubeconfig=file, host_cluster_context="", kubefed_namespace=NAMESPACE, dry_run=False
    )
    await installing.install(client, NAMESPACE)
    with open(os.devnull, "w") as nowhere:
        async with Session(arguments, nowhere) as session:
            await installing.enable_types(session, ("namespaces", "deployments.apps"))


async def _join(client: Client, members: list[Config]) -> None:
    types = await host_objects.enabled_types(client, NAMESPACE)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def join(name: str, config: Config) -> None:
        joins = Joining(name, "host", NAMESPACE)
        async with turns, config.client() as member:
            token = await joining.prepare_member(member, joins, types)
            await joining.register(client, joins, config, token, secret_name=f"{name}-token", new=True)

    await asyncio.gather(*(join(f"member-{number}", config) for number, config in enumerate(members)))


async def _figures(client: Client, members: list[Config], pid: int, options: argparse.Namespace) -> Figures:
    await client.create(NAMESPACES, {"metadata": {"name": "bench"}})
    space = {"metadata": {"name": "bench", "namespace": "bench"}, "spec": _PLACED}
    await client.create(FEDERATED_NAMESPACES, space, "bench")
    figures: Figures = {"clusters": options.clusters, "federated Deployments": options.deployments}
    figures["seconds until the namespace is in all clusters"] = await _settled(
        client, FEDERATED_NAMESPACES, time.perf_counter(), members
    )
    names = [f"web-{number}" for number in range(options.deployments)]
    began = time.perf_counter()
    await _all(client.create(FEDERATED, _deployment(name, options.replicas), "bench") for name in names)
    figures["seconds until new Deployments are in all clusters"] = await _settled(
        client, FEDERATED, began, members
    )
    used = processor_seconds(pid)
    began = time.perf_counter()
    await _all(client.patch(FEDERATED, name, _changed("example/web:2"), "bench") for name in names)
    figures["seconds until a change of all templates is in all clusters"] = await _settled(
        client, FEDERATED, began, members
    )
    figures["processor seconds of the control plane for that"] = processor_seconds(pid) - used
    await _check(members, options.deployments, "example/web:2")
    figures["MB of the control plane"] = resident_megabytes(pid)
    if options.idle:
        began = time.perf_counter()
        await _calm(pid)
        figures["seconds until members have rolled it out"] = time.perf_counter() - began
        used, began = processor_seconds(pid), time.perf_counter()
        await asyncio.sleep(options.idle)
        figures["percent of a core at rest"] = (
            100 * (processor_seconds(pid) - used) / (time.perf_counter() - began)
        )
    return figures


async def _calm(pid: int) -> None:
    """Wait until members' own work, which the control plane follows, is over; after some time it is no longer waited for."""
    deadline = time.perf_counter() + _CALM_SECONDS
    quiet = 0
    while quiet < 3 and time.perf_counter() < deadline:
        used = processor_seconds(pid)
        await asyncio.sleep(_LOOK_AT_REST)
        quiet = quiet + 1 if processor_seconds(pid) - used <= _LOOK_AT_REST * _AT_REST else 0


async def _all(calls: Any) -> None:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(call: Any) -> None:
        async with turns:
            await call

    await asyncio.gather(*map(one, calls))


def _deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": "example/web:1"}]},
    }
    template = {"spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod}}
    return {"metadata": {"name": name, "namespace": "bench"}, "spec": {**_PLACED, "template": template}}


def _changed(image: str) -> dict[str, Any]:
    pod = {"spec": {"containers": [{"name": "main", "image": image}]}}
    return {"spec": {"template": {"spec": {"template": pod}}}}


async def _settled(client: Client, kind: Ref, began: float, members: list[Config]) -> float:
    """Wait until every object is well in every cluster; return the seconds since then."""
    while True:
        objects = (await client.list(kind)).items
        if objects and all(_is_well(obj, len(members)) for obj in objects):
            return time.perf_counter() - began
        if time.perf_counter() - began > _MOST_SECONDS:
            ill = [obj["status"] for obj in objects if not _is_well(obj, len(members))]
            raise TimeoutError(
                f"not settled after {_MOST_SECONDS:.0f} s: {len(ill)} objects, such as {ill[0]}"
            )
        await asyncio.sleep(_LOOK_SECONDS)


def _is_well(obj: dict[str, Any], clusters: int) -> bool:
    status = obj.get("status") or {}
    rows = status.get("clusters") or ()
    if status.get("observedGeneration") != obj["metadata"]["generation"] or len(rows) != clusters:
        return False
    return not any(row.get("status") for row in rows)


async def _check(members: list[Config], count: int, image: str) -> None:
    """Look into every member whether it has what it should have."""
    for config in members:
        async with config.client() as member:
            page = await member.list(DEPLOYMENTS, "bench")
        images = [obj["spec"]["template"]["spec"]["containers"][0]["image"] for obj in page.items]
        if images != [image] * count:
            raise RuntimeError(f"{config.server} has {len(images)} Deployments, and not all with {image}")
