"""Power cuts, disks that fail and disks that are slow."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest

from bench.harness.crashes import Promises, parse
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore
from tests.control_plane.apiserver.verbs.config_maps import path
from tests.control_plane.store.conftest import started
from tests.control_plane.store.drivers.sqlite import disk
from tests.servers import running
from tests.support import until

CUTS = 60
WRITES = 40


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library that stands between a process and its disk."""
    return disk.build(tmp_path_factory.mktemp("disk"))


async def test_power_cuts_lose_nothing_that_was_acknowledged(library: Path, tmp_path: Path) -> None:
    root, trace = tmp_path / "root", tmp_path / "trace"
    root.mkdir()
    module = "tests.control_plane.store.drivers.sqlite.disk_writer"
    environment = disk.environment(library, root, trace=trace)
    subprocess.run(
        [sys.executable, "-m", module, str(root), str(WRITES)], env=environment, check=True, timeout=300
    )
    operations = disk.read_trace(trace)
    promised = [
        number for number, operation in enumerate(operations) if operation.path.name == "acknowledged"
    ]
    assert len(promised) > 250, "the trace misses what was acknowledged"
    assert (
        sum(1 for operation in operations if operation.what == "s" and "wal" in operation.path.name)
        > WRITES // 2
    )
    chance = random.Random(3)
    # At any moment, and right after something was promised.
    stops = {chance.randrange(promised[0], len(operations)) for _ in range(CUTS // 2)}
    stops |= {number + 1 for number in chance.sample(promised, CUTS // 2)}
    dropped = 0
    for number, files in disk.replay(operations, stops):
        image = tmp_path / str(number)
        (image / "data").mkdir(parents=True)
        lines = b""
        for name, file in files.items():
            if name.name == "acknowledged":
                lines = bytes(file.durable) + b"".join(operation.data for operation in file.pending)
            elif file.name_is_durable or chance.random() < 0.5:
                content = file.after_power_cut(chance)
                dropped += bool(file.pending)
                (image / name.relative_to(root)).write_bytes(content)
        async with started(SqliteStore(image / "data")) as store:
            Promises().check(store, parse(lines.splitlines(keepends=True)), 0)
    assert dropped > CUTS // 4


def test_a_disk_that_fails_and_one_that_is_slow(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, fault = tmp_path / "data", tmp_path / "fault"
    for name, value in disk.environment(library, data, fault=fault).items():
        monkeypatch.setenv(name, value)
    with running(tmp_path, f"--data-dir={data}") as server:
        for name in disk.environment(library, data, fault=fault).keys() & {"LD_PRELOAD"}:
            monkeypatch.delenv(name)
        assert server.call("POST", path("default"), {"metadata": {"name": "before"}})[0] == 201
        fault.write_text("eio")
        status, answer = server.call("POST", path("default"), {"metadata": {"name": "during"}})
        assert status == 503 and "disk I/O error" in answer["message"]
        assert server.call("GET", f"{path('default')}/before")[0] == 200
        assert server.call("GET", f"{path('default')}/during")[0] == 404
        assert server.call("GET", "/readyz")[0] == 500
        fault.unlink()
        until(lambda: server.call("GET", "/readyz")[0] == 200)
        assert server.call("POST", path("default"), {"metadata": {"name": "during"}})[0] == 201
        # Slow: each write and each sync takes 100 ms. Whoever does not write does not notice.
        fault.write_text("slow")
        writer = subprocess.Popen(
            [sys.executable, "-c", _POST, str(server.port), str(server.authority)], stdout=subprocess.PIPE
        )
        reads = 0
        while writer.poll() is None:
            assert (
                server.call("GET", f"{path('default')}/before")[0] == server.call("GET", "/livez")[0] == 200
            )
            reads += writer.poll() is None
        assert writer.stdout is not None
        assert writer.stdout.read() == b"201\n" and reads >= 2
        writer.stdout.close()
        fault.unlink()
    assert asyncio.run(_names(data)) >= {"before", "during", "slow"}


async def _names(data: Path) -> set[str]:
    async with started(SqliteStore(data)) as store:
        return {
            record.key.rpartition("/")[2] for record in store.list("/registry/configmaps/default/").records
        }


_POST = """
import http.client, json, ssl, sys
from tests.servers import TOKEN
context = ssl.create_default_context(cafile=sys.argv[2])
connection = http.client.HTTPSConnection("127.0.0.1", int(sys.argv[1]), context=context, timeout=120)
headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
connection.request("POST", "/api/v1/namespaces/default/configmaps", json.dumps({"metadata": {"name": "slow"}}), headers)
print(connection.getresponse().status)
"""
