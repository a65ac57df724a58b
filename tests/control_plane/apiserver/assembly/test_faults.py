"""Faults of what surrounds a server: too few file descriptors, and a process that is ended without a word."""

from __future__ import annotations

import resource
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

from tests.control_plane.apiserver.verbs.config_maps import path
from tests.servers import running
from tests.support import until

DESCRIPTORS = 60


def test_a_server_without_file_descriptors_recovers(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
        descriptors = Path(f"/proc/{server.process.pid}/fd")
        with ExitStack() as stack:
            for _ in range(2 * DESCRIPTORS):
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            until(lambda: len(list(descriptors.iterdir())) >= DESCRIPTORS - 1)
        until(lambda: len(list(descriptors.iterdir())) < DESCRIPTORS // 2)
        assert server.call("POST", path("default"), {"metadata": {"name": "after"}})[0] == 201
        until(lambda: server.call("GET", "/readyz")[0] == 200)


def test_a_killed_server_has_what_it_acknowledged(tmp_path: Path) -> None:
    """What a memory limit does to a process is the same."""
    acknowledged = 0
    for _ in range(3):
        with running(tmp_path) as server:
            names = {item["metadata"]["name"] for item in server.call("GET", path("default"))[1]["items"]}
            assert {f"m{number}" for number in range(acknowledged)} <= names
            for _ in range(20):
                assert (
                    server.call("POST", path("default"), {"metadata": {"name": f"m{acknowledged}"}})[0] == 201
                )
                acknowledged += 1
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(60)
