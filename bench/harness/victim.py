"""Somebody who only wants to read a pod: how long each GET takes. It runs in a process of its own."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

from bench.harness.report import milliseconds, percentile
from bench.harness.shared_server import PODS, QUIET, call, connect

_PAUSE = 0.002


class Victim:
    """Reads over and over from its start to its end."""

    def __init__(self, port: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=read_on, args=(port, theirs), daemon=True)
        self._process.start()
        self._ours.recv()

    def end(self) -> dict[str, Any]:
        """Stop, and return how long the reads took and how many were not answered with 200."""
        self._ours.send(None)
        latencies, failed = self._ours.recv()
        self._process.join()
        latencies.sort()
        figures = {f"p{percent}_ms": milliseconds(percentile(latencies, percent)) for percent in (50, 99)}
        return {
            "gets": len(latencies), "failed": failed, **figures,
            "longest_ms": milliseconds(latencies[-1] if latencies else 0.0),
        }  # fmt: skip


def read_on(port: int, pipe: Connection) -> None:
    """Read until the other side of a pipe says that it is enough, and send it what was measured."""
    connection, latencies, failed = connect(port), [], 0
    for _ in range(20):  # the handshake, and what a server does for the first time
        call(connection, "GET", f"{PODS}/pod-1", QUIET)
    pipe.send(None)
    while not pipe.poll():
        began = time.perf_counter()
        try:
            failed += call(connection, "GET", f"{PODS}/pod-1", QUIET) != 200
        except OSError:
            failed += 1
            connection.close()
        latencies.append(time.perf_counter() - began)
        time.sleep(_PAUSE)
    pipe.send((latencies, failed))
