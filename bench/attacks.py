"""pyb bench attacks: how long a quiet client's GETs take while others attack the server, and what memory they cost.

Each attack is a function in a file of ``bench/attacking/``. The server is one of its own, on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

import bench.attacking
from bench.harness.attacked import Attack, attack_for, attacked
from bench.harness.machine import describe_machine, processor_seconds, resident_megabytes
from bench.harness.shared_server import SharedServer, shared_server
from bench.harness.victim import Victim
from pybernetes.lib.discover import discover

SUMMARY = "attacks on an API server: the latency of a quiet client meanwhile; starts its own"
P99_LIMIT, LONGEST_LIMIT = 50.0, 150.0
_SAMPLE = 0.1
COLUMNS = (
    ("rounds", "rounds"), ("GETs", "gets"), ("failed", "failed"), ("p50 ms", "p50_ms"), ("p99 ms", "p99_ms"),
    ("longest ms", "longest_ms"), ("grew MB", "grew_megabytes"), ("kept MB", "kept_megabytes"),
    ("server s", "server_seconds"),
)  # fmt: skip


def attacks() -> dict[str, Attack]:
    """Return every attack by its name; the first is none."""
    listed: dict[str, Attack] = {"nothing": _nothing}
    for subject in discover(bench.attacking.__name__, "ATTACKS").values():
        assert not listed.keys() & subject.keys(), "two attacks have one name"
        listed |= subject
    return listed


async def _nothing(_: object) -> None:
    await asyncio.sleep(0.1)


def main(argv: list[str]) -> int:
    """Attack and print a table, or one JSON object with --json; 1 if the quiet client had to wait too long."""
    parser = argparse.ArgumentParser(prog="pyb bench attacks", description=__doc__)
    parser.add_argument("--only", default="", help="attacks with this in their names")
    parser.add_argument("--seconds", type=float, default=5, help="for how long each")
    parser.add_argument("--attackers", type=int, default=4, help="how many at a time")
    parser.add_argument("--pods", type=int, default=1000, help="pods that the server has")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--list", action="store_true", help="print the names of the attacks")
    options = parser.parse_args(argv)
    chosen = {name: attack for name, attack in attacks().items() if options.only in name}
    if options.list:
        print("\n".join(chosen))
        return 0
    results: dict[str, dict[str, Any]] = {}
    if not options.json:
        print(f"{'attack':<42}" + "".join(f"{title:>11}" for title, _ in COLUMNS))
    for name, attack in chosen.items():
        with shared_server(options.pods) as server:  # one each: what one attack leaves is not another's
            results[name] = asyncio.run(_measure(server, attack, options.seconds, options.attackers))
        if not options.json:
            print(f"{name:<42}" + "".join(f"{results[name][key]:>11}" for _, key in COLUMNS), flush=True)
    if options.json:
        print(json.dumps({"benchmark": "attacks", "machine": describe_machine(), "results": results}))
    late = [name for name, result in results.items() if _too_late(result)]
    if late:
        print(f"pyb bench attacks: over {P99_LIMIT:g} ms at p99 or {LONGEST_LIMIT:g} ms at the longest, "
              f"or not answered: {', '.join(late)}", file=sys.stderr)  # fmt: skip
    return 1 if late else 0


def _too_late(result: dict[str, Any]) -> bool:
    return result["p99_ms"] > P99_LIMIT or result["longest_ms"] > LONGEST_LIMIT or result["failed"] > 0


async def _measure(server: SharedServer, attack: Attack, seconds: float, attackers: int) -> dict[str, Any]:
    victim = Victim(server.port)
    before, spent = resident_megabytes(server.pid), processor_seconds(server.pid)
    attacking = asyncio.create_task(attack_for(seconds, attack, attacked(server.port), attackers))
    most = before
    while not attacking.done():
        await asyncio.wait([attacking], timeout=_SAMPLE)
        most = max(most, resident_megabytes(server.pid))
    return {
        "rounds": await attacking,
        **victim.end(),
        "grew_megabytes": round(most - before, 1),
        "kept_megabytes": round(resident_megabytes(server.pid) - before, 1),
        "server_seconds": round(processor_seconds(server.pid) - spent, 2),
    }
