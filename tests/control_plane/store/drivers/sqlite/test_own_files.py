"""The store writes to its own files and nowhere else: who runs it may be confined to them."""

from __future__ import annotations

import os
from pathlib import Path

from pybernetes.control_plane.store.drivers.sqlite import database
from pybernetes.control_plane.store.drivers.sqlite.opening import open_database


def _opened() -> set[str]:
    targets = set()
    for entry in os.scandir("/proc/self/fd"):
        try:
            targets.add(os.readlink(entry.path))
        except FileNotFoundError:
            pass  # of the scan itself
    return targets


def test_large_values_that_are_replaced_need_no_other_files(tmp_path: Path) -> None:
    connection = open_database(tmp_path / "store.db").connection
    before = _opened()
    for round_ in range(2):
        rows = [(f"/registry/pods/{number}", round_ + 1, os.urandom(500_000), 0.0) for number in range(4)]
        connection.execute("BEGIN IMMEDIATE")
        database.execute(connection, rows)
        assert {name for name in _opened() - before if not name.startswith(f"{tmp_path}/")} == set()
        connection.execute("COMMIT")
    connection.close()
