"""pyb bench holds: for how long reading, encoding and freeing a large body keeps Python from everybody else.

What counts is the processor time of the thread at work between two turns of another thread, so that a busy machine says the
same as a quiet one. The bodies are those of ``bench/attacking/bodies.py``.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import orjson

from bench.harness.machine import describe_machine
from pybernetes.api.text import json_reader
from pybernetes.control_plane.apiserver.codec.field_complaints import field_complaints
from pybernetes.lib.event_loop.discarding import discard

SUMMARY = "how long work on large bodies keeps Python from others; needs no server"
_LOOK_SECONDS, _SWITCH_SECONDS = 0.00005, 0.0001
_SIZE = 3 << 20
BODIES: dict[str, Callable[[], bytes]] = {
    "objects": lambda: b"[" + b"{}," * 499_000 + b"1]",
    "numbers": lambda: b"[" + b"1," * (_SIZE // 2 - 2) + b"1]",
    "texts": lambda: b"[" + b'"",' * (_SIZE // 3 - 2) + b"1]",
    "keys": lambda: orjson.dumps({f"k{number}": "" for number in range(200_000)}),
    "duplicate keys": lambda: b"{" + b'"a":"",' * (_SIZE // 7 - 2) + b'"a":1}',
    "malformed": lambda: b"[" + b"[1]," * 499_000 + b"x",
    "one text": lambda: b'{"a":"' + b"a" * (_SIZE - 10) + b'"}',
    "one text of escapes": lambda: b'{"a":"' + b"\\n" * (_SIZE // 2 - 5) + b'"}',
}


def main(argv: list[str]) -> int:
    """Print the longest time for each body and sort of work, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench holds", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.disable()
    results = {name: _measure(make()) for name, make in BODIES.items()}
    if options.json:
        print(json.dumps({"benchmark": "holds", "machine": describe_machine(), "results": results}))
        return 0
    print(f"{'longest ms (all ms)':<22}" + "".join(f"{work:>20}" for work in next(iter(results.values()))))
    for name, measured in results.items():
        print(
            f"{name:<22}"
            + "".join(f"{f'{longest:.1f} ({total:.0f})':>20}" for longest, total in measured.values())
        )
    return 0


def _measure(raw: bytes) -> dict[str, tuple[float, float]]:
    values: list[Any] = []

    def read(load: Callable[[bytes], Any]) -> None:
        try:
            values.append(load(raw))
        except ValueError:
            values.append(None)

    return {
        "parser alone": _held(lambda: read(orjson.loads)),
        "free at once": _held(values.clear),
        "in pieces": _held(lambda: read(json_reader.loads)),
        "complain": _held(lambda: values[0] is not None and field_complaints(raw, [])),
        "encode": _held(lambda: orjson.dumps(values[0])),
        "free": _held(lambda: discard(values)),
    }


def _held(work: Callable[[], object]) -> tuple[float, float]:
    """Return for how many milliseconds nobody else had a turn, at the longest, and how long the work took."""
    clock = time.pthread_getcpuclockid(threading.get_ident())
    looking, ended = threading.Event(), threading.Event()
    longest = 0.0

    def look() -> None:
        nonlocal longest
        while not ended.is_set():
            before = time.clock_gettime(clock)
            time.sleep(_LOOK_SECONDS)
            longest = max(longest, time.clock_gettime(clock) - before)
            looking.set()

    other = threading.Thread(target=look)
    other.start()
    looking.wait()
    before = time.thread_time()
    try:
        work()
    finally:
        total = time.thread_time() - before
        ended.set()
        other.join()
    return round(longest * 1000, 1), round(total * 1000, 1)
