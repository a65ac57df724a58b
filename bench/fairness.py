"""pyb bench fairness: how long a quiet client waits beside a flood, with flow control and without. Needs wrk."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

from bench.harness.machine import describe_machine
from bench.harness.shared_server import NOISY, PODS, QUIET, call, connect, shared_server
from bench.harness.wrk import SCRIPT

SUMMARY = "flow control: the latency of a quiet client beside one that floods the server; starts its own"


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench fairness", description=__doc__)
    parser.add_argument("--connections", type=int, default=100, help="connections of the noisy client")
    parser.add_argument(
        "--pods", type=int, default=1000, help="pods that the noisy client lists over and over"
    )
    parser.add_argument("--seconds", type=float, default=8, help="for how long")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    if not shutil.which("wrk"):
        print("pyb bench fairness: wrk is not installed: apt-get install wrk", file=sys.stderr)
        return 1
    results = {}
    for name, enabled, flood in (("no flood", True, False), ("flood, without flow control", False, True),
                                 ("flood, with flow control", True, True)):  # fmt: skip
        with shared_server(options.pods, f"--enable-priority-and-fairness={str(enabled).lower()}") as server:
            results[name] = measure(server.port, options.connections if flood else 0, options.seconds)
    if options.json:
        print(json.dumps({"benchmark": "fairness", "machine": describe_machine(), "results": results}))
        return 0
    print(f"{'quiet client':<34}{'requests':>10}{'p50 ms':>10}{'p99 ms':>10}{'refused':>10}")
    for name, figures in results.items():
        print(
            f"{name:<34}{figures['requests']:>10}{figures['p50_ms']:>10.2f}{figures['p99_ms']:>10.2f}{figures['refused']:>10}"
        )
    return 0


def measure(port: int, connections: int, seconds: float) -> dict[str, float]:
    """Read one pod over and over while others may flood the server with lists that match nothing."""
    flood = None
    if connections:
        # A selector makes the server look at every pod: no answer is at hand.
        settings = {
            "BENCH_TOKEN": NOISY,
            "BENCH_PATH": f"{PODS}?labelSelector=app%3Dother",
            "BENCH_NUMBERS": "0",
        }
        command = [
            "wrk",
            "-t",
            "1",
            "-c",
            str(connections),
            "-d",
            f"{round(seconds) + 4}s",
            "--timeout",
            "60s",
        ]
        flood = subprocess.Popen(
            [*command, "-s", str(SCRIPT), f"https://127.0.0.1:{port}"], env={**os.environ, **settings},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(2)
    connection, latencies, refused = connect(port), [], 0
    end = time.perf_counter() + seconds
    try:
        while time.perf_counter() < end:
            began = time.perf_counter()
            refused += call(connection, "GET", f"{PODS}/pod-1", QUIET) == 429
            latencies.append(time.perf_counter() - began)
    finally:
        if flood is not None:
            flood.kill()
            flood.wait()
    latencies.sort()
    return {
        "requests": len(latencies),
        "p50_ms": 1000 * latencies[len(latencies) // 2],
        "p99_ms": 1000 * latencies[int(len(latencies) * 0.99)],
        "refused": refused,
    }
