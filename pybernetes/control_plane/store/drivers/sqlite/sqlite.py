"""The flag of the sqlite driver, and how it is opened. What needs SQLite is imported only then."""

from __future__ import annotations

import argparse

from pybernetes.control_plane.store.driver import Driver
from pybernetes.control_plane.store.protocol import CommonOptions, Store
from pybernetes.lib.flags import Flag

FLAGS = (Flag("data-dir", "/var/lib/pybernetes", "where the embedded store keeps its data"),)


def open_store(arguments: argparse.Namespace, options: CommonOptions) -> Store:
    """Make the store in the data directory that the flag names."""
    from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore

    return SqliteStore(arguments.data_dir, **options)


DRIVER = Driver("sqlite", open_store, FLAGS)
