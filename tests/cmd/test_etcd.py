"""The snapshot commands, against real files and a real etcd."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from pybernetes.cmd.etcd import main
from pybernetes.control_plane.store.open import open_store
from tests.control_plane.store.drivers.sqlite.test_damage import corrupt
from tests.control_plane.store.etcd_server import etcd
from tests.support import require_program


async def fill(data_dir: Path) -> None:
    store = open_store("sqlite", data_dir=data_dir)
    await store.start()
    for number in range(20):
        await store.create(f"/registry/configmaps/default/{number}", b"{}")
    await store.close()


def test_save_status_and_restore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(fill(tmp_path / "data"))
    file = str(tmp_path / "snapshot")
    assert main(["snapshot", "save", file, "--data-dir", str(tmp_path / "data")]) == 0
    assert capsys.readouterr().out == f"Snapshot saved at {file}\n"
    assert main(["snapshot", "status", file, "-w", "json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["revision"] == 21 and status["totalKey"] == 20
    assert status["totalSize"] == (tmp_path / "snapshot").stat().st_size
    assert main(["snapshot", "restore", file, "--data-dir", str(tmp_path / "new")]) == 0
    assert "Restored 20 keys at revision 21" in capsys.readouterr().out

    async def count() -> int:
        store = open_store("sqlite", data_dir=tmp_path / "new")
        await store.start()
        await store.close()
        return store.count("/registry/")

    assert asyncio.run(count()) == 20


def test_check_and_repair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    asyncio.run(fill(data))
    assert main(["check", "--data-dir", str(data)]) == main(["repair", "--data-dir", str(data)]) == 0
    assert capsys.readouterr().out == "20 keys at revision 21, no damage found\n" * 2
    corrupt(data, "/registry/configmaps/default/3")
    assert main(["check", "--data-dir", str(data)]) == 1
    assert "/registry/configmaps/default/3: its checksum does not match" in capsys.readouterr().err
    assert main(["repair", "--data-dir", str(data)]) == 0
    assert "Kept 19 keys at revision 21; 1 damaged records" in capsys.readouterr().out
    assert main(["check", "--data-dir", str(data)]) == 0
    assert main(["check", "--data-dir", str(tmp_path / "nowhere")]) == 1


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(fill(tmp_path / "data"))
    file = str(tmp_path / "snapshot")
    assert main(["snapshot", "save", file, "--data-dir", str(tmp_path / "data")]) == 0
    for arguments, message in (
        (["save", file, "--data-dir", str(tmp_path / "data")], "snapshot exists"),
        (["save", file + "2", "--data-dir", str(tmp_path / "nowhere")], "does not exist"),
        (["restore", file, "--data-dir", str(tmp_path / "data")], "restore into a new directory"),
        (["restore", file + "2", "--data-dir", str(tmp_path / "new")], "No such file"),
        (["status", __file__], "cannot read"),
        (["save", file + "2", "--endpoints", "http://127.0.0.1:1", "--cert", "x"], "given together"),
    ):
        assert main(["snapshot", *arguments]) == 1
        assert message in capsys.readouterr().err
    with pytest.raises(SystemExit) as usage:
        main(["snapshot", "save", file])
    assert usage.value.code == 2


def test_etcd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "snapshot")
    with etcd(tmp_path / "etcd") as [member]:
        endpoints = f"127.0.0.1:1,{member.address.removeprefix('http://')}"
        assert main(["snapshot", "save", file, "--endpoints", endpoints]) == 0
    capsys.readouterr()
    for form in ("table", "json", "simple", "fields"):
        command = [require_program("etcdctl"), "snapshot", "status", file, "-w", form]
        wanted = subprocess.run(command, env={"ETCDCTL_API": "3"}, stdout=subprocess.PIPE, check=True).stdout
        assert main(["snapshot", "status", file, "-w", form]) == 0
        assert capsys.readouterr().out == wanted.decode()
