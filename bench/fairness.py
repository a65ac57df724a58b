"""pyb bench fairness: how long a quiet client waits beside a flood, with flow control and without. Needs wrk."""

import argparse
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness.machine import describe_machine
from bench.harness.wrk import SCRIPT

SUMMARY = "flow control: the latency of a quiet client beside one that floods the server; starts its own"
ADMIN, NOISY, QUIET = "admin-token", "noisy-token", "quiet-token"
TOKENS = f'{ADMIN},admin,1,"system:masters"\n{NOISY},noisy,2\n{QUIET},quiet,3\n'
PODS = "/api/v1/namespaces/default/pods"


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
        with server(enabled, options.pods) as port:
            results[name] = measure(port, options.connections if flood else 0, options.seconds)
    if options.json:
        print(json.dumps({"benchmark": "fairness", "machine": describe_machine(), "results": results}))
        return 0
    print(f"{'quiet client':<34}{'requests':>10}{'p50 ms':>10}{'p99 ms':>10}{'refused':>10}")
    for name, figures in results.items():
        print(
            f"{name:<34}{figures['requests']:>10}{figures['p50_ms']:>10.2f}{figures['p99_ms']:>10.2f}{figures['refused']:>10}"
        )
    return 0


@contextmanager
def server(enabled: bool, pods: int) -> Iterator[int]:
    """Return an API server with pods in it, whose users may read."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        Path(folder, "tokens.csv").write_text(TOKENS)
        command = [
            sys.executable, "-m", "pybernetes.cmd.main", "kube-apiserver", "--bind-address=127.0.0.1",
            f"--secure-port={port}", f"--cert-dir={folder}/certs", f"--token-auth-file={folder}/tokens.csv",
            "--storage-backend=memory", "--disable-admission-plugins=ServiceAccount",
            f"--enable-priority-and-fairness={'true' if enabled else 'false'}",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            while "is serving on" not in process.stdout.readline():
                if process.poll() is not None:
                    raise RuntimeError("the server did not start")
            fill(port, pods)
            yield port
        finally:
            process.terminate()
            process.wait(60)


def connect(port: int) -> http.client.HTTPSConnection:
    """Return a connection that asks nobody for a certificate: this is loopback."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)


def call(
    connection: http.client.HTTPSConnection, method: str, path: str, token: str, body: object = None
) -> int:
    """Send one request and return the status."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    response.read()
    return response.status


def fill(port: int, pods: int) -> None:
    """Let everybody read, and make pods."""
    connection = connect(port)
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": name} for name in ("noisy", "quiet")],
    }
    assert call(connection, "POST", f"/apis/{group}/v1/clusterrolebindings", ADMIN, binding) == 201
    for number in range(pods):
        pod = {
            "metadata": {"name": f"pod-{number}", "labels": {"app": "bench"}},
            "spec": {"containers": [{"name": "c", "image": "example.com/image:1"}]},
        }
        assert call(connection, "POST", PODS, ADMIN, pod) == 201
    connection.close()


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
