"""Writes to an embedded store as fast as it can until it is killed, and tells what was acknowledged."""

import asyncio
import hashlib
import os
import sys

from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore

WORKERS = 8
DELETES_EVERY = 5


def value_of(key: str, number: int) -> bytes:
    """Return a value of about 2 kB that tells whether it is whole."""
    text = f"{key} {number} ".encode()
    filling = (hashlib.sha256(text).hexdigest() * 32).encode()
    return text + filling


def number_of(key: str, value: bytes) -> int:
    """Return the number in a value; fail when the value is torn."""
    number = int(value.split(b" ", 2)[1])
    assert value == value_of(key, number)
    return number


async def work(store: SqliteStore, worker: int, number: int) -> None:
    key = f"/registry/pods/crash/{worker}"
    while True:
        current = store.get(key)
        if current is None:
            revision = (await store.create(key, value_of(key, number))).revision
        elif number % DELETES_EVERY == DELETES_EVERY - 1:
            revision = (await store.delete(key, current.revision)).revision
        else:
            revision = (await store.update(key, value_of(key, number), current.revision)).revision
        exists = int(store.get(key) is not None)
        os.write(1, f"{key} {number} {exists} {revision}\n".encode())
        number += 1


async def main(directory: str, first: int) -> None:
    store = SqliteStore(directory)
    await store.start()
    await asyncio.gather(*(work(store, worker, first) for worker in range(WORKERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
