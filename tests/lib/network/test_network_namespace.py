"""Sockets of another network namespace."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from pybernetes.lib.network.network_namespace import socket_in


def test_what_is_no_namespace_leaves_the_thread_where_it_is(tmp_path: Path) -> None:
    here = os.stat("/proc/thread-self/ns/net").st_ino
    other = tmp_path / "file"
    other.write_text("")
    for path in (other, tmp_path / "none"):
        with pytest.raises(OSError):
            socket_in(path, socket.AF_INET)
    assert os.stat("/proc/thread-self/ns/net").st_ino == here
