"""A benchmark that is told to end reaches its cleaning up and leaves no process, wherever it is."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.harness.orderly_exit import orderly_exit
from tests.support import until

_START = """
import asyncio, signal, subprocess, sys, threading
from bench.harness.orderly_exit import orderly_exit

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # in the background of a shell some are ignored

def wait():
    threading.Event().wait()

async def waits():
    try:
        print(child.pid, flush=True)
        await asyncio.Event().wait()
    finally:
        await asyncio.to_thread(int)
        print("clean", flush=True)

def blocks():
    try:
        print(child.pid, flush=True)
        wait()
    finally:
        print("clean", flush=True)

class Destroyed:
    def __del__(self):
        print(child.pid, flush=True)
        wait()  # what is raised in here goes nowhere

def destroys():
    try:
        Destroyed()
        wait()
    finally:
        print("clean", flush=True)

async def swallows():
    async def other():
        try:
            await asyncio.Event().wait()
        except BaseException:
            pass  # what got lost here must still end the rest
    await asyncio.gather(other(), waits())

with orderly_exit():
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
"""
_BODIES = {
    "sync": "blocks()",
    "destructor": "destroys()",
    "async": "asyncio.run(waits())",
    "swallowed": "asyncio.run(swallows())",
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("body", list(_BODIES))
def test_a_signal_cleans_up_once(body: str, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", f"{_START}    {_BODIES[body]}\n"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(number)
        process.send_signal(number)  # the impatience of users does not leave anything behind
        output, _ = process.communicate(timeout=60)
        assert (output, process.returncode) == ("clean\n", 128 + number)
        assert not Path(f"/proc/{child}").exists()
    finally:
        process.kill()


def test_a_benchmark_takes_its_server_away(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pybernetes.cmd.main", "bench", "crds"],
        env=environment,
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: list(tmp_path.glob("*/kubeconfig")), 240)
        process.terminate()
        process.communicate(timeout=60)
        assert process.returncode == 143
        assert not list(tmp_path.iterdir())
    finally:
        process.kill()


def test_processes_of_others_live_on() -> None:
    waiting = [sys.executable, "-c", "import signal; signal.pause()"]
    other = subprocess.Popen(waiting)
    try:
        with orderly_exit():
            own = subprocess.Popen(waiting)
        assert other.poll() is None
        until(lambda: not Path(f"/proc/{own.pid}").exists())
    finally:
        other.kill()
        other.wait()
