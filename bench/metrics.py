"""pyb bench metrics: what one round of metrics-server costs, and how soon its first question is answered.

Kubelets that only answer run in another process, over TLS, each at a port of its own; what is measured is the process that
asks them: its processor time for a round; then the whole program, with an API server that has the nodes and pods: how soon
it answers, and its memory after some rounds and questions.
"""

import argparse
import asyncio
import json
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from bench.harness import metrics_program
from pybernetes.client.client import Client
from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess, KubeletClient
from pybernetes.control_plane.metrics_server.own_metrics import OwnMetrics
from pybernetes.control_plane.metrics_server.scraper import Scraper
from pybernetes.control_plane.metrics_server.storage import Storage
from pybernetes.lib.tls import tls

SUMMARY = "metrics-server: processor time and memory of a round; needs no server"
LIMITS = {"processor s per round": 2.0, "program memory MB": 100.0, "first answer after pair, s": 1.0}


def main(argv: list[str]) -> int:
    """Measure and print; fail when a figure misses its limit."""
    parser = argparse.ArgumentParser(prog="pyb bench metrics", description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000, help="how many kubelets there are")
    parser.add_argument("--pods", type=int, default=30, help="how many pods each of them has")
    parser.add_argument("--rounds", type=int, default=3, help="how many rounds to measure")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "bench.harness.kubelet_answers", directory]
        kubelets = subprocess.Popen(
            [*command, str(options.nodes), str(options.pods)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        try:
            assert kubelets.stdout is not None
            ports = json.loads(kubelets.stdout.readline())
            figures = _run(_measure(ports, Path(directory), options))
            figures |= _run(metrics_program.measure(ports, Path(directory, "ca.crt"), options.pods))
        finally:
            kubelets.communicate("")
    if options.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{name:<28}{figure:12,.2f}")
    missed = [name for name, limit in LIMITS.items() if figures[name] > limit]
    for name in missed:
        print(f"pyb bench metrics: {name} misses the limit of {LIMITS[name]:,.0f}", file=sys.stderr)
    return 1 if missed else 0


def _run(work: Any) -> Any:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


async def _measure(ports: list[int], directory: Path, options: argparse.Namespace) -> dict[str, float]:
    context: ssl.SSLContext = tls.client_context(directory / "ca.crt")
    access = KubeletAccess(lambda: context, address_types=("InternalIP",), use_node_status_port=True)
    storage, metrics = Storage(15.0), OwnMetrics(15.0)
    scraper = Scraper(cast(Client, None), KubeletClient(access), storage, metrics, resolution=60.0)
    nodes = [metrics_program.node(number, port) for number, port in enumerate(ports)]
    await scraper.round(nodes)  # the first one makes connections
    costs, times = [], []
    for _ in range(options.rounds):
        used, began = time.process_time(), time.monotonic()  # of this process: not that of the kubelets
        await scraper.round(nodes)
        costs.append(time.process_time() - used)
        times.append(time.monotonic() - began)
    known = storage.counts()
    assert known == (options.nodes, options.nodes * options.pods), known
    return {
        "nodes": options.nodes,
        "pods": options.nodes * options.pods,
        "processor s per round": min(costs),
        "seconds per round": min(times),
    }
