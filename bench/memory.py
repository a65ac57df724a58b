"""pyb bench memory: whether a control plane keeps anything of what was deleted.

Namespaces with everything in them are made, used and deleted again, with their own roles, policies, webhooks and custom
resource definitions, in a cluster of hollow nodes in one process. Memory has to be flat once it is warm: what is known
of paths, names and events goes by, but takes some rounds to fill the room that it may have.

With --burst, pods are made, listed and deleted at once in an API server alone: what of its memory comes back.
"""

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
from pathlib import Path

from bench.harness import burst, rounds
from bench.harness.machine import describe_machine, processor_seconds, resident_megabytes
from bench.harness.own_server import OwnServer
from pybernetes.client import kubeconfig

SUMMARY = "memory: namespaces with everything in them, made and deleted 200 times; starts its own"
_NODES = 2
_LET_GO = "--etcd-compaction-interval=5s"
_AT_ONCE = 4  # a namespace takes its time to go


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when memory grows."""
    parser = argparse.ArgumentParser(prog="pyb bench memory", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--warm", type=int, default=50, help="rounds after which memory has to be flat")
    parser.add_argument("--limit", type=float, default=10.0, help="most percent by which it may grow then")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument(
        "--burst", type=int, default=0, metavar="PODS", help="so many pods at once, instead of rounds"
    )
    options = parser.parse_args(argv)
    if options.burst:
        with OwnServer("--alone", _LET_GO, "--disable-admission-plugins=ServiceAccount") as server:
            figures = asyncio.run(burst.run(Path(server.kubeconfig), server.pid, options.burst))
        return _print(figures, options.json, {})
    # History is let go soon, so that memory shows what stays for good.
    with OwnServer(f"--hollow={_NODES}", _LET_GO) as server:
        os.kill(server.pid, signal.SIGUSR1)  # its scheduler may begin
        megabytes = asyncio.run(_run(Path(server.kubeconfig), server.pid, options.rounds))
        seconds = processor_seconds(server.pid)
    # One moment may fall into a burst of work: the middle of the last rounds is compared with that of the first warm ones.
    span = max(1, min(options.warm, (len(megabytes) - options.warm) // 2))
    warm = statistics.median(megabytes[options.warm : options.warm + span] or megabytes)
    last = statistics.median(megabytes[-span:])
    growth = 100 * (last / warm - 1)
    figures = {
        "MB at the beginning": megabytes[0],
        f"MB after {options.warm} rounds": warm,
        f"MB after {options.rounds} rounds": last,
        "growth in percent": round(growth, 1),
        "CPU s for a round": round(seconds / options.rounds, 2),
    }
    _print(figures, options.json, {"megabytes": megabytes})
    if growth > options.limit:
        print(f"pyb bench memory: memory grew by {growth:.1f} %", file=sys.stderr)
        return 1
    return 0


def _print(figures: dict[str, float], as_json: bool, more: dict[str, list[float]]) -> int:
    if as_json:
        result = {"benchmark": "memory", "machine": describe_machine(), "results": figures, **more}
        print(json.dumps(result))
    else:
        for name, figure in figures.items():
            print(f"{name:<40}{figure:10.1f}")
    return 0


async def _run(path: Path, pid: int, count: int) -> list[float]:
    """Run the rounds; return the resident memory before them and after each."""
    megabytes = [resident_megabytes(pid)]
    numbers = iter(range(count))

    async def some() -> None:
        for number in numbers:
            # Everybody who comes is somebody else, as in a test suite.
            async with kubeconfig.load(path).client(user_agent=f"round-{number}") as client:
                await rounds.once(client, number)
            megabytes.append(resident_megabytes(pid))
            if len(megabytes) % 10 == 1:
                print(f"… {len(megabytes) - 1} rounds: {megabytes[-1]:.1f} MB", file=sys.stderr, flush=True)

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(some())
    return megabytes
