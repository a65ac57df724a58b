"""Chooses a driver by the name of a storage backend; only the chosen one is imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pybernetes.control_plane.store import drivers
from pybernetes.control_plane.store.protocol import Store, StoreError
from pybernetes.lib.discover import names

# What Kubernetes calls the backend, where that differs from the file's name.
ALIASES = {"etcd3": "etcd"}


def backends() -> list[str]:
    """The names that open_store takes."""
    return sorted({*names(drivers.__name__), *ALIASES})


def open_store(backend: str, **options: Any) -> Store:
    """Make the store of a backend, not started yet; each takes its own options and refuses others.

    memory: none. sqlite: data_dir. etcd3: etcd_servers, etcd_cafile, etcd_certfile, etcd_keyfile, prefix.
    All of them: stamp, clock, history.
    """
    if backend not in backends():
        raise StoreError(f"unknown storage backend {backend!r}: choose one of {', '.join(backends())}")
    module = import_module(f"{drivers.__name__}.{ALIASES.get(backend, backend)}")
    try:
        store: Store = module.open_store(**options)
    except TypeError as error:
        raise StoreError(f"storage backend {backend}: {error}") from error
    return store
