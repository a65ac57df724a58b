"""pyb bench faults: kills stores while they are written to, and counts the acknowledged writes that are lost.

``--memory-limit`` gives an API server little memory instead, which clients and then its own data try to use up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from bench.harness import crashes, memory_limit
from bench.harness.etcd_process import EtcdProcess
from bench.harness.machine import describe_machine

SUMMARY = "faults: kill -9 of writers and of etcd at random moments; starts its own stores"


def main(argv: list[str]) -> int:
    """Kill, check and print; fail when anything that was acknowledged is lost."""
    parser = argparse.ArgumentParser(prog="pyb bench faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="how often, over all stores")
    parser.add_argument("--store", choices=("sqlite", "etcd", "both"), default="both")
    parser.add_argument(
        "--memory-limit", type=int, default=0, metavar="MB", help="have memory run short instead; needs root"
    )
    parser.add_argument("--seconds", type=float, default=2, help="for how long each attack on memory")
    parser.add_argument("--seed", type=int, default=None, help="makes the moments the same again")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    of_etcd = {"sqlite": 0, "etcd": options.kills, "both": options.kills // 10}[options.store]
    results: dict[str, dict[str, float]] = {}
    try:
        if options.memory_limit:
            of_etcd = options.kills = 0
            results["memory"] = memory_limit.run(options.memory_limit, options.seconds, memory_limit.ATTACKS)
        with tempfile.TemporaryDirectory(prefix="pyb-faults-") as folder:
            if of_etcd < options.kills:
                began = time.monotonic()
                promises = crashes.kill_embedded(
                    Path(folder) / "data", options.kills - of_etcd, random.Random(seed)
                )
                results["sqlite"] = _figures(options.kills - of_etcd, promises.total, began)
            if of_etcd:
                began = time.monotonic()
                total = asyncio.run(kill_etcd(Path(folder) / "etcd", of_etcd, random.Random(seed)))
                results["etcd"] = _figures(of_etcd, total, began)
    except AssertionError as error:
        print(f"pyb bench faults: with --seed={seed}: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(
            json.dumps(
                {"benchmark": "faults", "machine": describe_machine(), "seed": seed, "results": results}
            )
        )
    else:
        for store, figures in results.items():
            print(f"{store:<8}" + ", ".join(f"{value:g} {name}" for name, value in figures.items()))
    return 0


def _figures(kills: int, writes: int, began: float) -> dict[str, float]:
    seconds = round(time.monotonic() - began, 1)
    return {"kills": kills, "acknowledged writes": writes, "lost": 0, "seconds": seconds}


async def kill_etcd(directory: Path, kills: int, chance: random.Random) -> int:
    """Kill and start etcd so many times under writers that go on; return how many writes were acknowledged."""
    from pybernetes.control_plane.store.drivers.etcd.etcd_store import EtcdStore

    etcd = EtcdProcess(directory)
    await etcd.start()
    store = EtcdStore([etcd.address])
    try:
        await store.start()
        writers = crashes.EtcdWriters(store)
        store.watch(crashes.PREFIX, 0, writers.take)
        keys = [f"{crashes.PREFIX}{worker}" for worker in range(crashes.WORKERS)]
        tasks = [asyncio.create_task(writers.work(key)) for key in keys]
        for _ in range(kills):
            await asyncio.sleep(chance.random() / 4)
            etcd.kill()
            await etcd.start()
        await asyncio.sleep(0.5)
        writers.stopping = True
        await asyncio.gather(*tasks)
        await store.sync()
        return writers.check()
    finally:
        await store.close()
        etcd.kill()
