"""pyb bench dns: how many questions kube-dns answers, how fast, and what it costs in memory.

Starts an API server and kube-dns as programs of their own on loopback, makes services, and asks from another
process over UDP, so many questions on their way at once.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness.machine import processor_seconds, resident_megabytes
from bench.harness.report import percentile
from pybernetes.client import kubeconfig as config
from pybernetes.client.client import Client
from pybernetes.client.refs import NAMESPACES, SERVICES

SUMMARY = "kube-dns: questions per second, latency, memory, and how soon a change is seen; needs no server"
NAMESPACE = "bench"
LIMITS = {"questions/s": 20_000.0, "p99 ms": 5.0, "memory MB": 100.0, "change seen ms": 1000.0}


def main(argv: list[str]) -> int:
    """Measure and print; fail when a figure misses its limit."""
    parser = argparse.ArgumentParser(prog="pyb bench dns", description=__doc__)
    parser.add_argument("--services", type=int, default=10_000, help="how many services there are")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to ask")
    parser.add_argument("--window", type=int, default=64, help="questions on their way at once")
    parser.add_argument(
        "--misses", type=float, default=0.3, help="share of questions about names that are none"
    )
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="have server and client go before all others meanwhile (root)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    figures = asyncio.run(_measure(options))
    if options.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{name:<28}{figure:12,.2f}")
    missed = [
        name for name, limit in LIMITS.items()
        if (figures[name] < limit if name == "questions/s" else figures[name] > limit)
    ]  # fmt: skip
    for name in missed:
        print(f"pyb bench dns: {name} misses the limit of {LIMITS[name]:,.0f}", file=sys.stderr)
    return 1 if missed else 0


@contextlib.contextmanager
def _program(ready: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run one of our programs; yield it with the line by which it told that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pybernetes.cmd.main", *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if ready in line:
                yield process, line.strip()
                return
        raise SystemExit(f"{arguments[0]} did not start")
    finally:
        process.terminate()
        process.wait(30)


async def _measure(options: argparse.Namespace) -> dict[str, float]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-dns-")))
        (folder / "tokens.csv").write_text('token,bench,1,"system:masters"\n')
        _, line = stack.enter_context(_program(
            "serving on", "kube-apiserver", "--bind-address=127.0.0.1", "--secure-port=0", "--storage-backend=memory",
            f"--cert-dir={folder}", f"--token-auth-file={folder / 'tokens.csv'}", "--service-cluster-ip-range=10.96.0.0/16",
        ))  # fmt: skip
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(json.dumps(_kubeconfig(line.rpartition("https://")[2], folder)))
        client = config.load(str(kubeconfig)).client(user_agent="bench")
        await _make(client, options.services)
        dns, line = stack.enter_context(_program(
            "answers on", "kube-dns", f"--kubeconfig={kubeconfig}", "--dns-bind-address=127.0.0.1", "--dns-port=0",
            "--health-port=0", "--ready-port=0", "--metrics-port=0", "--cluster-ranges=10.96.0.0/16",
        ))  # fmt: skip
        port = int(line.split()[-1])
        began = time.perf_counter()
        _until(port, _name(options.services - 1))
        figures = {
            "services": float(options.services),
            "all names known after s": time.perf_counter() - began,
        }
        used = processor_seconds(dns.pid)
        with _before_others(dns.pid, 0) if options.real_time else contextlib.nullcontext():
            figures |= _load(port, options)
        # What the server itself needs, whoever else is at work on the machine.
        asked = figures["questions/s"] * figures.pop("seconds")
        figures["server µs/question"] = (processor_seconds(dns.pid) - used) / asked * 1e6
        figures["memory MB"] = resident_megabytes(dns.pid)
        figures["change seen ms"] = await _change(client, port)
        await client.close()
    return figures


@contextlib.contextmanager
def _before_others(*pids: int) -> Iterator[None]:
    """Give some processes real-time priority, so that a busy machine measures like an idle one."""
    for pid in pids:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(5))
    try:
        yield
    finally:
        for pid in pids:
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


def _kubeconfig(server: str, folder: Path) -> dict[str, Any]:
    cluster = {"server": f"https://{server}", "certificate-authority": str(folder / "ca.crt")}
    return {
        "clusters": [{"name": "b", "cluster": cluster}],
        "users": [{"name": "b", "user": {"token": "token"}}],
        "contexts": [{"name": "b", "context": {"cluster": "b", "user": "b"}}],
        "current-context": "b",
    }


def _service(name: str) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    return {
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"ports": ports, "selector": {"app": name}},
    }


async def _make(client: Client, count: int) -> None:
    await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    for start in range(0, count, 50):
        await asyncio.gather(
            *(
                client.create(SERVICES, _service(f"service-{number}"))
                for number in range(start, min(count, start + 50))
            )
        )


def _name(number: int) -> str:
    return f"service-{number}.{NAMESPACE}.svc.cluster.local"


def _question(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


def _known(port: int, name: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(1)
        sock.sendto(b"\0\1" + _question(name), ("127.0.0.1", port))
        try:
            return sock.recv(4096)[7] == 1
        except TimeoutError:
            return False


def _until(port: int, name: str, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not _known(port, name):
        if time.monotonic() > deadline:
            raise SystemExit(f"{name} is not known after {seconds} s")
        time.sleep(0.001)


async def _change(client: Client, port: int) -> float:
    """Return the milliseconds from the answer of the API server until a new name is known; the slowest of 20."""
    worst = 0.0
    for number in range(20):
        await client.create(SERVICES, _service(f"new-{number}"))
        began = time.perf_counter()
        await asyncio.to_thread(_until, port, f"new-{number}.{NAMESPACE}.svc.cluster.local", 10)
        worst = max(worst, time.perf_counter() - began)
    return worst * 1000


def _load(port: int, options: argparse.Namespace) -> dict[str, float]:
    """Keep a window of questions on their way and time each answer."""
    chosen = random.Random(1)
    questions = []
    for _ in range(20_000):
        if chosen.random() < options.misses:  # what search paths make of other names
            questions.append(_question(f"example-{chosen.randrange(1000)}.com.{NAMESPACE}.svc.cluster.local"))
        else:
            questions.append(_question(_name(chosen.randrange(options.services)), chosen.choice((1, 1, 28))))
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sock.connect(("127.0.0.1", port))
    sock.settimeout(1)
    sent, durations, lost, bad, at = {}, [], 0, 0, 0
    clock = time.perf_counter

    def ask() -> None:
        nonlocal at
        at += 1
        identifier = at & 0xFFFF
        sent[identifier] = clock()
        sock.send(identifier.to_bytes(2) + questions[at % len(questions)])

    began = clock()
    deadline = began + options.seconds
    for _ in range(options.window):
        ask()
    while sent:
        try:
            answer = sock.recv(4096)
        except TimeoutError:
            lost += len(sent)
            sent.clear()
            for _ in range(options.window if clock() < deadline else 0):
                ask()
            continue
        now = clock()
        since = sent.pop(int.from_bytes(answer[:2]), None)
        if since is None:
            continue
        durations.append(now - since)
        bad += answer[3] & 15 not in (0, 3)
        if now < deadline:
            ask()
    elapsed = clock() - began
    sock.close()
    durations.sort()
    return {
        "seconds": elapsed,
        "questions/s": len(durations) / elapsed,
        "p50 ms": percentile(durations, 50) * 1000,
        "p99 ms": percentile(durations, 99) * 1000,
        "longest ms": durations[-1] * 1000,
        "lost": float(lost),
        "failed": float(bad),
    }
