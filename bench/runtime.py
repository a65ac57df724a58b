"""pyb bench runtime: what the client and the controller runtime cost, with an API server in the same process."""

import argparse
import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from bench.harness.inprocess_server import TOKEN, inprocess_server
from bench.harness.machine import resident_megabytes
from pybernetes.client.client import Client
from pybernetes.client.credentials import Authority, Token
from pybernetes.client.refs import CONFIG_MAPS, PODS
from pybernetes.client.rest_transport import RestTransport
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, MASTERS, User
from pybernetes.control_plane.apiserver.inprocess.transport import InProcessTransport
from pybernetes.runtime import Controller, Informer, Runtime, by_labels

SUMMARY = "client and runtime: dispatch, informers, calls in-process and over HTTPS; needs no server"
NAMESPACE = "kube-public"  # there from the start, and nobody minds


class Empty(Controller):
    """Does nothing, which is what it costs to run a controller."""

    name = "empty"
    kind = CONFIG_MAPS
    calls = 0

    async def reconcile(self, key: str) -> float | None:
        self.calls += 1
        return None


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when the dispatch is over the limit."""
    parser = argparse.ArgumentParser(prog="pyb bench runtime", description=__doc__)
    parser.add_argument("--pods", type=int, default=10_000, help="how many Pods informers hold")
    parser.add_argument("--keys", type=int, default=50_000, help="how many reconciles to measure")
    parser.add_argument("--limit", type=float, default=30.0, help="most microseconds for a dispatch")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    figures = _run(options)
    if options.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{name:<52}{figure:12,.2f}")
    if figures["dispatch of a reconcile, µs"] > options.limit:
        print(f"pyb bench runtime: a dispatch is over the limit of {options.limit} µs", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace) -> dict[str, float]:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(options))


async def _measure(options: argparse.Namespace) -> dict[str, float]:
    async with inprocess_server() as server:
        user = User("bench", groups=(MASTERS, AUTHENTICATED))
        local = Client(InProcessTransport(server.http.application, user))
        trust = Token(Authority(verify=False), TOKEN)
        remote = Client(RestTransport(f"https://127.0.0.1:{server.port}", trust))
        try:
            return await _figures(options, local, remote)
        finally:
            await remote.close()


async def _figures(options: argparse.Namespace, local: Client, remote: Client) -> dict[str, float]:
    figures = {"dispatch of a reconcile, µs": await _dispatch(local, options.keys)}
    pods = options.pods

    async def fill() -> None:
        for number in range(pods):
            await local.create(PODS, _pod(number))

    figures["create in-process, 1/s"] = pods / await _seconds(fill)
    before = resident_megabytes(os.getpid())
    informers = [Informer(local, PODS) for _ in range(2)] + [Informer(remote, PODS)]
    informers[0].add_index(by_labels)
    names = ("in-process", "a second one in-process", "over HTTPS")
    tasks = []
    for name, informer in zip(names, informers, strict=True):
        tasks.append(asyncio.create_task(informer.run()))
        figures[f"informer of {pods} Pods, {name}, ms"] = 1000 * await _seconds(informer.wait_synced)
        now = resident_megabytes(os.getpid())
        figures[f"informer of {pods} Pods, {name}, MB"] = now - before
        before = now
    idle = time.process_time()
    await asyncio.sleep(1)
    figures["idle with these informers, % of a core"] = 100 * (time.process_time() - idle)
    for name, client in (("in-process", local), ("over HTTPS", remote)):
        figures[f"get {name}, 1/s"] = 2000 / await _seconds(partial(_gets, client, 2000))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return figures


async def _dispatch(client: Client, keys: int) -> float:
    """Return the microseconds from a key that is added to the end of its reconcile."""
    runtime = Runtime(client)
    controller = Empty(runtime)
    runtime.informers.start()
    task = asyncio.create_task(controller.run())
    await runtime.informers.wait_synced()
    names = [f"default/{number}" for number in range(keys)]
    gc.collect()
    controller.calls = 0
    begin = time.process_time()
    for name in names:
        controller.enqueue(name)
    while controller.calls < keys:
        await asyncio.sleep(0)
    spent = time.process_time() - begin
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await runtime.informers.stop()
    return spent / keys * 1e6


async def _gets(client: Client, count: int) -> None:
    for number in range(count):
        await client.get(PODS, f"pod-{number % 10}", NAMESPACE)


async def _seconds(call: Callable[[], Awaitable[Any]]) -> float:
    begin = time.perf_counter()
    await call()
    return time.perf_counter() - begin


def _pod(number: int) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"pod-{number}", "namespace": NAMESPACE, "labels": {"app": f"app-{number % 100}", "tier": "web"},
        },
        "spec": {"containers": [{"name": "main", "image": "example/image:1"}]},
    }  # fmt: skip
