"""What a burst of work took of memory goes back to the system."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from pybernetes.lib.memory import gc_tuning

# A thread beside the main one takes 32 MB in pieces that are not Python's own, and lets them go.
BURST = """
import sys, threading
from pybernetes.lib.memory import gc_tuning

def resident():
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmRSS"))

if sys.argv[1] == "shared":
    gc_tuning.share_heap()
large = bytes(30 << 20)  # from now on the C library thinks that it is worth keeping as much
del large

def work():
    pieces = [bytes(2000) for _ in range(16_000)]
    pieces.clear()
    finished.set()
    ended.wait()

finished, ended = threading.Event(), threading.Event()
before = resident()
worker = threading.Thread(target=work)
worker.start()
finished.wait()
gc_tuning.return_memory()
print(resident() - before)
ended.set()
"""


def kept(how: str) -> int:
    command = [sys.executable, "-c", BURST, how]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_memory_that_threads_took_goes_back() -> None:
    if kept("own") < 15:
        pytest.skip("this C library gives it back by itself")
    assert kept("shared") < 8


def test_it_takes_a_small_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody gets memory meanwhile: who makes others look for some again and again must not hold everybody up."""
    now, spent = [100.0], [5.0]
    trims = []

    def trim() -> None:
        trims.append(now[0])
        spent[0] += 0.010

    monkeypatch.setattr(gc_tuning, "_trim", trim)
    monkeypatch.setattr(gc_tuning, "_not_before", 0.0)
    monkeypatch.setattr(
        gc_tuning, "time", SimpleNamespace(monotonic=lambda: now[0], thread_time=lambda: spent[0])
    )
    for step in (0.0, 0.5, 1.0, 0.6, 0.1, 5.0):
        now[0] += step
        assert bool(gc_tuning.return_memory()) == (trims[-1] != now[0])
    assert trims == pytest.approx([100.0, 102.1, 107.2])
