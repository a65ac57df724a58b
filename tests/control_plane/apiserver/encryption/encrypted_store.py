"""A store that is encrypted as a configuration says, and what of it is on the disk."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption
from pybernetes.control_plane.apiserver.storage.resource_version import check, stamp
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore

SECRET = "/registry/secrets/default/a"
VALUE = b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"data":{"x":"c2VjcmV0"}}'


def keys(provider: str, *letters: str) -> dict[str, Any]:
    """Return a provider with keys that are named like their letters."""
    return {
        provider: {
            "keys": [
                {"name": letter, "secret": base64.b64encode(letter.encode() * 32).decode()}
                for letter in letters
            ]
        }
    }


def write(path: Path, *entries: tuple[list[str], list[dict[str, Any]]]) -> None:
    """Write a configuration."""
    document = {
        "kind": "EncryptionConfiguration",
        "apiVersion": "apiserver.config.k8s.io/v1",
        "resources": [{"resources": resources, "providers": providers} for resources, providers in entries],
    }
    path.write_text(yaml.safe_dump(document))


@asynccontextmanager
async def opened(directory: Path, *, reload: bool = False) -> AsyncIterator[tuple[SqliteStore, Encryption]]:
    """Yield a store in a directory, encrypted as the configuration beside it says, if there is one."""
    path = directory / "encryption.yaml"
    encryption = Encryption(builtin(), str(path) if path.exists() else "", reload=reload, server="me")
    store = SqliteStore(directory / "data", sealing=encryption, stamp=stamp, check=check)
    await encryption.start(store.unseal_again)
    await store.start()
    try:
        yield store, encryption
    finally:
        await store.close()
        await encryption.close()


def on_disk(directory: Path, key: str = SECRET) -> bytes:
    """Return what the file of a closed store has at a key."""
    connection = sqlite3.connect(directory / "data" / "store.db")
    try:
        (value,) = connection.execute("SELECT value FROM records WHERE key = ?", (key,)).fetchone()
    finally:
        connection.close()
    return bytes(value)
