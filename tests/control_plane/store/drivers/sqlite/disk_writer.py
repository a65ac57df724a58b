"""Writes to a store on a disk that is watched: what was acknowledged goes to a file there, in its place among the writes."""

import asyncio
import os
import sys
from pathlib import Path

from bench.harness.crashes import WORKERS, write
from pybernetes.control_plane.store.drivers.sqlite import committer
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore


async def main(directory: Path, count: int) -> None:
    committer.LOG_BYTES = 1 << 18  # the log is moved into the file often
    store = SqliteStore(directory / "data")
    await store.start()
    acknowledged = os.open(directory / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def work(key: str) -> None:
        for number in range(count):
            revision, exists = await write(store, key, number)
            os.write(acknowledged, f"{key} {number} {exists:d} {revision}\n".encode())

    await asyncio.gather(*(work(f"/registry/pods/crash/{worker}") for worker in range(WORKERS)))
    os._exit(0)


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
