"""The attack on an API server: who sends, who watches, and what counts as a failure."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness.machine import resident_megabytes
from bench.harness.shared_server import ADMIN, SharedServer, call, connect, shared_server
from bench.harness.victim import Victim
from fuzz.engine import corpus
from fuzz.server.requests import NAMESPACES, Maker, Request
from fuzz.server.wire import Pipeline, send_odd

# Requests of one turn on a connection: as many as a server reads ahead, and no more bytes than sockets hold.
_BATCH, _BATCH_BYTES = 12, 96 << 10
_CLEAN_EVERY = 20_000
_PROGRESS_SECONDS = 15.0
STALL_MILLISECONDS = 50.0
# What memory may grow by after the first quarter of the run.
_GROWTH_MEGABYTES = 40.0


@dataclass
class Findings:
    """What has come of an attack so far."""

    folder: Path
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    _kinds: Counter[str] = field(default_factory=Counter)

    @property
    def requests(self) -> int:
        """How many requests were answered."""
        return sum(self.statuses.values())

    def note(self, request: Request, status: int, body: bytes) -> None:
        """Count an answer; keep the request of one that must not be."""
        self.statuses[status] += 1
        if 100 <= status < 500 or (status == 504 and b"ResourceVersionTooLarge" in body):
            return
        if (
            status == 504 and "timeout=" in request.title
        ):  # it asked for an answer in so many seconds, or for this one
            return
        words = request.title.partition("?")[0].split("/")
        self.fail(
            f"{status} to {words[0]}{words[-1] if words[-1].isalpha() else words[-2]}",
            f"{request.title}: {body[:400]!r}",
            request.data,
        )

    def fail(self, kind: str, text: str, data: bytes = b"") -> None:
        """Note a failure; one of each kind is kept."""
        self._kinds[kind] += 1
        if self._kinds[kind] > 1:
            return
        saved = f"\n  saved as {corpus.save('apiserver', data, self.folder)}" if data else ""
        self.failures.append(kind)
        print(f"apiserver: {kind}: {text}{saved}", flush=True)


def run(seconds: float, seed: int, folder: Path, connections: int = 8, most: int = 0) -> int:
    """Attack a server of its own for a time, or until a number of requests; return how many failures there were."""
    with tempfile.TemporaryDirectory(prefix="pyb-fuzz-") as place:
        log = Path(place, "log")
        with shared_server(50, "--etcd-compaction-interval=5s", log=log) as server:
            findings = attack(server, seconds, seed, folder, connections, most)
        for trace in log.read_text(errors="replace").split("Traceback (most recent call last)")[1:]:
            findings.fail(
                trace.strip().rpartition("\n")[2].partition("\n")[0][:80] or "traceback", trace[-1500:]
            )
    return len(findings.failures)


def attack(
    server: SharedServer, seconds: float, seed: int, folder: Path, connections: int, most: int = 0
) -> Findings:
    """Send requests over several connections while somebody else reads, and judge."""
    findings, end = Findings(folder), time.monotonic() + seconds
    maker, odd_maker = Maker(seed, ADMIN), Maker(seed + 1, ADMIN)
    admin = connect(server.port)
    for namespace in NAMESPACES:
        call(admin, "POST", "/api/v1/namespaces", ADMIN, {"metadata": {"name": namespace}})
    victim = Victim(server.port)
    stop = threading.Event()
    odd = threading.Thread(target=_odd, args=(server.port, odd_maker, findings, stop))
    odd.start()
    pipelines = [Pipeline(server.port) for _ in range(connections)]
    reported, cleaned = time.monotonic(), 0
    try:
        for pipeline in pipelines:
            pipeline.send(_batch(maker))
        while time.monotonic() < end and not (most and findings.requests >= most):
            for pipeline in pipelines:
                for request, status, body in pipeline.answers():
                    findings.note(request, status, body)
                pipeline.send(_batch(maker))
            if findings.requests - cleaned > _CLEAN_EVERY:
                cleaned = findings.requests
                _clean(server.port, maker, findings)
            if time.monotonic() - reported > _PROGRESS_SECONDS:
                reported = time.monotonic()
                _progress(findings, server.pid)
    finally:
        stop.set()
        odd.join()
        for pipeline in pipelines:
            pipeline.close()
    _clean(server.port, maker, findings)
    findings.megabytes.append(resident_megabytes(server.pid))
    _judge(findings, victim.end())
    return findings


def _batch(maker: Maker) -> list[Request]:
    requests: list[Request] = []
    size = 0
    while len(requests) < _BATCH and size < _BATCH_BYTES:
        requests.append(maker.next())
        size += len(requests[-1].data)
    return requests


def _odd(port: int, maker: Maker, findings: Findings, stop: threading.Event) -> None:
    """Send bytes whose framing is wrong, over connections of their own."""
    while not stop.is_set():
        data = maker.odd()
        for status in send_odd(port, data):
            if status != 101:
                findings.note(Request(data, "", f"ODD /{data[:60]!r}"), status, b"")


def _clean(port: int, maker: Maker, findings: Findings) -> None:
    pipeline = Pipeline(port)
    for request in maker.clean_up():
        pipeline.send([request])
        for answered, status, body in pipeline.answers():
            findings.note(answered, status, body)
    pipeline.close()


def _progress(findings: Findings, pid: int) -> None:
    findings.megabytes.append(resident_megabytes(pid))
    shares = " ".join(f"{status}:{count}" for status, count in sorted(findings.statuses.items()))
    print(f"apiserver: {findings.requests} requests, {findings.megabytes[-1]:.0f} MB, {len(findings.failures)} failures; {shares}",
          flush=True)  # fmt: skip


def _judge(findings: Findings, quiet: dict[str, float]) -> None:
    """Judge memory and what the quiet client saw; its waits are reported, as others on the machine cause some too."""
    print(
        f"apiserver: {findings.requests} requests; a quiet client: {json.dumps(quiet)}; MB: {findings.megabytes}",
        flush=True,
    )
    if quiet["failed"]:
        findings.fail("a quiet client was not answered", str(quiet))
    if quiet["longest_ms"] > STALL_MILLISECONDS:
        print(
            f"apiserver: the quiet client waited {quiet['longest_ms']} ms once", file=sys.stderr, flush=True
        )
    warm = findings.megabytes[len(findings.megabytes) // 4 :]
    if len(warm) > 3 and min(warm[-2:]) - warm[0] > _GROWTH_MEGABYTES:
        findings.fail("memory grows", f"from {warm[0]:.0f} to {warm[-1]:.0f} MB")
