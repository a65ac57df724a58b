"""An API server with little memory: clients cannot have it killed, and when its own data does, nothing is lost."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from bench.attacking import answers, bodies, heads, history, unread
from bench.harness.attacked import Attack, attack_for, attacked
from bench.harness.memory_group import MemoryGroup
from bench.harness.shared_server import ADMIN, call, connect, shared_server

ATTACKS: dict[str, Attack] = {
    name: attack
    for subject in (unread, bodies, heads, history, answers)
    for name, attack in subject.ATTACKS.items()
}
_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_FILLING = "x" * 100_000
_LARGE = 40  # objects of that size that everybody may list
_ENOUGH = 2000  # a server that keeps so many of them has no limit


def run(megabytes: int, seconds: float, names: Iterable[str]) -> dict[str, float]:
    """Attack a server in a group with a limit, then fill it until it is killed; return figures, or fail."""
    with tempfile.TemporaryDirectory(prefix="pyb-memory-") as folder:
        store = ("--storage-backend=sqlite", f"--data-dir={folder}/data")
        written: list[str] = []
        with MemoryGroup("pyb-memory-limit", megabytes) as group:
            with shared_server(100, *store, within=group.command) as server:
                _write(server.port, written, _LARGE)
                for name in names:
                    asyncio.run(attack_for(seconds, ATTACKS[name], attacked(server.port)))
                    assert group.kills == 0, f"{name} had the server killed at {megabytes} MB"
                    _write(server.port, written, 1)
                attacked_megabytes = group.most_megabytes
                # Its own data is what no bound keeps away.
                with suppress(OSError, http.client.HTTPException):
                    _write(server.port, written, _ENOUGH)
                assert not os.path.exists(f"/proc/{server.pid}/exe") or group.kills, "there is no limit"
            assert group.kills > 0
            group.limit(1 << 30)
            with shared_server(0, *store, within=group.command) as server:
                kept = _names(server.port)
        lost = set(written) - kept
        assert not lost, f"acknowledged and lost: {sorted(lost)[:10]}"
        return {
            "MB of memory": megabytes, "MB used at most under attack": round(attacked_megabytes, 1), "kills by clients": 0,
            "kills by its own data": 1, "acknowledged writes": len(written), "lost": 0,
        }  # fmt: skip


def _write(port: int, written: list[str], count: int) -> None:
    """Create objects, and note each once it is acknowledged."""
    connection = connect(port)
    for _ in range(count):
        name = f"kept-{len(written)}"
        body = {"metadata": {"name": name}, "data": {"x": _FILLING}}
        status = call(connection, "POST", _CONFIG_MAPS, ADMIN, body)
        assert status == 201, f"a write was answered with {status}"
        written.append(name)
    connection.close()


def _names(port: int) -> set[str]:
    connection = connect(port)
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    connection.request("GET", _CONFIG_MAPS, None, {"Authorization": f"Bearer {ADMIN}", "Accept": accept})
    items = json.loads(connection.getresponse().read())["items"]
    connection.close()
    return {item["metadata"]["name"] for item in items}
