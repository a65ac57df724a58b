"""Encryption of a store: which resources, rotation, keys that are missing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption
from pybernetes.control_plane.store.drivers.sqlite.database import checksum
from pybernetes.control_plane.store.protocol import Damaged, StoreError
from pybernetes.lib.metrics.exposition import Exposition
from tests.control_plane.apiserver.encryption.encrypted_store import (
    SECRET,
    VALUE,
    keys,
    on_disk,
    opened,
    write,
)
from tests.support import eventually


async def test_values_are_plain_in_memory_and_encrypted_on_disk(tmp_path: Path) -> None:
    write(tmp_path / "encryption.yaml", (["secrets"], [keys("aesgcm", "a")]))
    async with opened(tmp_path) as (store, _):
        record = await store.create(SECRET, VALUE)
        assert b"c2VjcmV0" in record.value and not store.is_stale(record)
        await store.create("/registry/configmaps/default/a", VALUE)
    assert on_disk(tmp_path).startswith(b"k8s:enc:aesgcm:v1:a:") and b"c2Vj" not in on_disk(tmp_path)
    assert on_disk(tmp_path, "/registry/configmaps/default/a") == VALUE
    async with opened(tmp_path) as (store, encryption):
        record = await store.update(SECRET, VALUE, store.get(SECRET).revision)  # type: ignore[union-attr]
        assert b"c2VjcmV0" in record.value
        out = Exposition()
        encryption.metrics.render(out)
    text = out.render().decode()
    assert (
        'apiserver_storage_transformation_operations_total{resource="secrets",status="OK",transformation_type="to_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1'
        in text
    )
    assert (
        'apiserver_storage_transformation_duration_seconds_count{transformation_type="from_storage",transformer_prefix="k8s:enc:aesgcm:v1:"} 1'
        in text
    )


@pytest.mark.parametrize(
    ("listed", "key", "encrypted"),
    [
        ("*.*", "/registry/pandas.example.com/x/y", True),
        ("*.*", "/registry/services/specs/default/a", True),
        ("*.*", "/registry/masterleases/10.0.0.1", True),
        ("*.*", "/registry/pybernetes/barrier", False),
        ("*.apps", "/registry/deployments/default/a", True),
        ("*.apps", "/registry/secrets/default/a", False),
        ("*.", "/registry/secrets/default/a", True),
        ("*.", "/registry/deployments/default/a", False),
        ("*.", "/registry/events/default/a", True),
        ("pandas.bears.example", "/registry/bears.example/pandas/default/a", True),
        ("pandas.bears.example", "/registry/bears.example/zoos/default/a", False),
        ("nodes", "/registry/minions/a", True),
        ("apiservices.apiregistration.k8s.io", "/registry/apiregistration.k8s.io/apiservices/v1.", True),
    ],
)
async def test_which_resources(tmp_path: Path, listed: str, key: str, encrypted: bool) -> None:
    write(tmp_path / "encryption.yaml", ([listed], [keys("aesgcm", "a")]))
    stored, _ = Encryption(builtin(), str(tmp_path / "encryption.yaml")).seal(key, VALUE)
    assert stored.startswith(b"k8s:enc:") is encrypted


async def test_earlier_entries_come_first(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    write(path, (["events"], [{"identity": {}}]), (["*.*"], [keys("aescbc", "a")]))
    encryption = Encryption(builtin(), str(path))
    assert encryption.seal("/registry/events/default/a", VALUE) == (VALUE, None)
    assert encryption.seal(SECRET, VALUE)[0].startswith(b"k8s:enc:aescbc:v1:a:")


async def test_rotation_by_writing_again(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    steps = [
        ([{"identity": {}}], VALUE[:8]),
        ([keys("aescbc", "a"), {"identity": {}}], b"k8s:enc:aescbc:v1:a:"),
        ([keys("aesgcm", "b"), keys("aescbc", "a")], b"k8s:enc:aesgcm:v1:b:"),
        ([keys("secretbox", "c"), keys("aesgcm", "b")], b"k8s:enc:secretbox:v1:c:"),
        ([{"identity": {}}, keys("secretbox", "c")], VALUE[:8]),
    ]
    write(path, (["secrets"], steps[0][0]))
    async with opened(tmp_path) as (store, _):
        await store.create(SECRET, VALUE)
    for providers, begin in steps[1:]:
        write(path, (["secrets"], providers))
        async with opened(tmp_path) as (store, _):
            record = store.get(SECRET)
            assert record is not None and store.is_stale(record) and b"c2VjcmV0" in record.value
            again = await store.update(SECRET, VALUE, record.revision)
            assert not store.is_stale(again)
        assert on_disk(tmp_path).startswith(begin)


async def test_a_key_that_is_missing_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    write(path, (["secrets"], [keys("aesgcm", "a")]))
    async with opened(tmp_path) as (store, _):
        await store.create(SECRET, VALUE)
    before = on_disk(tmp_path)
    write(path, (["secrets"], [keys("aesgcm", "b"), {"identity": {}}]))
    async with opened(tmp_path) as (store, _):
        record = store.get(SECRET)
        assert record is not None
        with pytest.raises(Damaged) as error:
            _ = record.value
        assert error.value.is_sealed and "no matching key was found" in str(error.value)
        with pytest.raises(StoreError):
            await store.create(SECRET, VALUE)
    assert on_disk(tmp_path) == before
    path.unlink()
    async with opened(tmp_path) as (store, _):
        assert "identity transformer tried to read encrypted data" in store.damaged()[SECRET]
    assert on_disk(tmp_path) == before


def overwrite(directory: Path, key: str, value: bytes) -> None:
    """Put something else on the disk of a closed store, as somebody who has the disk could."""
    connection = sqlite3.connect(directory / "data" / "store.db")
    with connection:
        ((revision, expires),) = connection.execute(
            "SELECT revision, expires FROM records WHERE key = ?", (key,)
        )
        fitting = checksum(key, revision, value, expires)
        connection.execute("UPDATE records SET value = ?, checksum = ? WHERE key = ?", (value, fitting, key))
    connection.close()


async def test_what_somebody_puts_on_the_disk(tmp_path: Path) -> None:
    """Plain values are believed only where the configuration names identity, others' ciphertexts nowhere."""
    path, other = tmp_path / "encryption.yaml", SECRET + "2"
    write(path, (["secrets"], [keys("aesgcm", "a")]))
    async with opened(tmp_path) as (store, _):
        await store.create(SECRET, VALUE)
        await store.create(other, VALUE.replace(b"c2VjcmV0", b"b3RoZXJz"))
    sealed, moved = on_disk(tmp_path), on_disk(tmp_path, other)
    path.unlink()
    (tmp_path / "plain").mkdir()
    async with opened(tmp_path / "plain") as (store, _):
        await store.create(SECRET, VALUE)
    plain = on_disk(tmp_path / "plain")
    for providers, value, problem in (
        ([keys("aesgcm", "a")], moved, "message authentication failed"),
        ([keys("aesgcm", "a")], sealed[:-1] + bytes([sealed[-1] ^ 1]), "message authentication failed"),
        ([keys("aesgcm", "a")], sealed.replace(b":a:", b":b:"), "no matching key was found"),
        ([keys("aesgcm", "a")], sealed.replace(b"aesgcm", b"aescbc"), "no matching prefix found"),
        ([keys("aesgcm", "a")], plain, "no matching prefix found"),
        ([keys("aesgcm", "a"), {"identity": {}}], plain, ""),
        ([keys("aesgcm", "a")], sealed, ""),
    ):
        overwrite(tmp_path, SECRET, value)
        write(path, (["secrets"], providers))
        async with opened(tmp_path) as (store, _):
            assert problem in store.damaged().get(SECRET, "")
            assert bool(problem) is (SECRET in store.damaged()), store.damaged()
        assert on_disk(tmp_path) == value


async def test_a_new_configuration_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    write(path, (["secrets"], [keys("aesgcm", "a")]))
    async with opened(tmp_path) as (store, _):
        await store.create(SECRET, VALUE)
    write(path, (["secrets"], [keys("aesgcm", "b")]))
    async with opened(tmp_path, reload=True) as (store, encryption):
        assert SECRET in store.damaged()
        ended: list[object] = []
        store.watch("/registry/secrets/", 0, lambda events: None, closed=ended.append)
        path.write_text("kind: nothing")
        await eventually(lambda: encryption.metrics.reloads.counts.get("failure", (0,))[0] >= 1)
        assert encryption.seal(SECRET, VALUE)[0].startswith(b"k8s:enc:aesgcm:v1:b:")
        write(path, (["secrets"], [keys("aesgcm", "b", "a")]))
        await eventually(lambda: not store.damaged())
        record = store.get(SECRET)
        assert record is not None and b"c2VjcmV0" in record.value and store.is_stale(record)
        assert len(ended) == 1, "whoever watched starts over, with what can be read now"
        await eventually(lambda: encryption.metrics.reloads.counts.get("success", (0,))[0] == 1)
