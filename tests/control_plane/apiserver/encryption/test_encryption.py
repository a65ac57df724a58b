"""Encryption of a store: which resources, rotation, keys that are missing, and plug-ins that come and go."""

from __future__ import annotations

import base64
import json
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption
from pybernetes.control_plane.apiserver.storage.resource_version import check, stamp
from pybernetes.control_plane.store.drivers.sqlite.database import checksum
from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore
from pybernetes.control_plane.store.protocol import CannotSeal, Damaged, StoreError
from pybernetes.lib.exposition import Exposition
from tests.control_plane.apiserver.encryption.kms_plugin import KmsPlugin
from tests.support import eventually

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


def kms(plugin: KmsPlugin, timeout: str = "30s") -> dict[str, Any]:
    """Return the provider of a plug-in, which answers at once or after a while on a busy machine."""
    return {
        "kms": {"apiVersion": "v2", "name": "test", "endpoint": f"unix://{plugin.socket}", "timeout": timeout}
    }


async def test_a_plug_in(tmp_path: Path) -> None:
    plugin = KmsPlugin(tmp_path / "kms.sock").start()
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(plugin)]))
    try:
        async with opened(tmp_path) as (store, encryption):
            for number in range(5):
                await store.create(f"{SECRET}{number}", VALUE)
            assert (
                plugin.calls == {"Status": 1, "Encrypt": 1, "Decrypt": 0}
                and await encryption.problem() is None
            )
        assert on_disk(tmp_path, SECRET + "0").startswith(b"k8s:enc:kms:v2:test:")
        async with opened(tmp_path) as (store, encryption):
            assert plugin.calls["Decrypt"] == 1, "one seed for all values"
            record = store.get(SECRET + "0")
            assert record is not None and b"c2VjcmV0" in record.value and not store.is_stale(record)
            await store.update(SECRET + "0", VALUE, record.revision)
            plugin.key_id = "key-2"
            encryption._providers.plugins[0].probe._checked = 0.0
            assert await encryption.problem() is None
            record = store.get(SECRET + "1")
            assert record is not None and store.is_stale(record)
            out = Exposition()
            encryption.metrics.render(out)
        text = out.render().decode()
        assert "apiserver_envelope_encryption_key_id_hash_total{apiserver_id_hash=" in text
        assert (
            'kms_operations_latency_seconds_count{grpc_status_code="OK",method_name="/v2.KeyManagementService/Decrypt",provider_name="test"} 1'
            in text
        )
    finally:
        plugin.stop()


async def test_a_plug_in_that_is_down_and_comes_back(tmp_path: Path) -> None:
    plugin = KmsPlugin(tmp_path / "kms.sock").start()
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(plugin)]))
    async with opened(tmp_path) as (store, _):
        await store.create(SECRET, VALUE)
    plugin.stop()
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(plugin, "2s")]))  # which nobody waits for long
    try:
        async with opened(tmp_path) as (store, encryption):
            problem = await encryption.problem()
            assert problem is not None and problem.startswith(
                "kms-provider-0: failed to perform status section of the healthz check for KMS Provider test, error: rpc error: code = "
            )
            assert "failed to decrypt DEK, error: rpc error: code = " in store.damaged()[SECRET]
            with pytest.raises(CannotSeal, match="got unexpected nil transformer"):
                await store.create(SECRET + "2", VALUE)
            plugin.start()
            encryption._providers.plugins[0].probe._checked = 0.0
            await eventually(lambda: store.unseal_again())
            assert not store.damaged()
    finally:
        plugin.stop()


async def test_seeds_may_be_used_for_three_minutes_without_the_plug_in(tmp_path: Path) -> None:
    plugin = KmsPlugin(tmp_path / "kms.sock").start()
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(plugin)]))
    try:
        async with opened(tmp_path) as (_, encryption):
            provider = encryption._providers.plugins[0]
            now = provider._clock()
            provider._clock = lambda: now + 181
            with pytest.raises(CannotSeal, match=r"encryptedDEKSource with keyID hash .* expired at"):
                encryption.seal(SECRET, VALUE)
    finally:
        plugin.stop()


@pytest.mark.parametrize(
    ("attribute", "value", "text"),
    [
        ("healthz", "bad", "got unexpected healthz status: bad"),
        ("version", "v1", "expected KMSv2 API version v2, got v1"),
        ("status_key_id", "", 'got invalid KMSv2 KeyID hash "": keyID is empty'),
        ("status_key_id", "x" * 1025, "keyID is 1025 bytes, which exceeds the max size of 1024"),
        ("status_key_id", "other", "failed to rotate DEK uid="),
    ],
)
async def test_answers_that_make_no_sense(tmp_path: Path, attribute: str, value: str, text: str) -> None:
    plugin = KmsPlugin(tmp_path / "kms.sock")
    setattr(plugin, attribute, value)
    plugin.start()
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(plugin)]))
    try:
        async with opened(tmp_path) as (_, encryption):
            problem = await encryption.problem()
            assert problem is not None and text in problem
    finally:
        plugin.stop()


class HostilePlugin(KmsPlugin):
    """A plug-in that does harm in one way; ``ended`` lets its slow answers go."""

    def __init__(self, socket: Path, trick: str) -> None:
        super().__init__(socket)
        self.trick, self.ended = trick, threading.Event()
        self.healthz = {"huge": "x" * (4 << 20), "lines": "bad\nE0101 forged"}.get(trick, "ok")

    def _status(self, request: Any, context: Any) -> Any:
        if self.trick == "slow":
            self.ended.wait(60)
        return super()._status(request, context)

    def _encrypt(self, request: Any, context: Any) -> Any:
        answer = super()._encrypt(request, context)
        if self.trick == "large annotations":
            answer.annotations["large.example.com"] = b"x" * 40_000
        if self.trick == "bad annotations":
            answer.annotations["nonsense"] = b"x"
        if self.trick == "large source":
            answer.ciphertext = b"x" * 1025
        return Garbage() if self.trick == "garbage" else answer

    def _decrypt(self, request: Any, context: Any) -> Any:
        answer = super()._decrypt(request, context)
        if self.trick == "short seeds":
            answer.plaintext = b"short"
        if self.trick == "other seeds":
            answer.plaintext = b"x" * 32
        return answer


class Garbage:
    """An answer that is no message."""

    def SerializeToString(self) -> bytes:
        return b"\xff" * 20


@pytest.mark.parametrize(
    ("trick", "text"),
    [
        ("huge", "code = ResourceExhausted"),
        ("slow", "code = DeadlineExceeded"),
        ("lines", "got unexpected healthz status: bad"),
        ("garbage", "failed to encrypt DEK, error: rpc error: code = Internal"),
        ("large annotations", "total size of annotations is"),
        ("bad annotations", "should be a domain with at least two segments"),
        ("large source", "encrypted DEK source is 1025 bytes, which exceeds the max size of 1024"),
        ("short seeds", ""),
        ("other seeds", ""),
    ],
)
async def test_plug_ins_that_mean_harm(tmp_path: Path, trick: str, text: str) -> None:
    """What was stored stays, nothing is written that nobody could read, and what is wrong is said."""
    honest = KmsPlugin(tmp_path / "kms.sock").start()
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(honest)]))
    async with opened(tmp_path) as (store, _):
        await store.create(SECRET, VALUE)
    honest.stop()
    before = on_disk(tmp_path, SECRET)
    plugin = HostilePlugin(tmp_path / "hostile.sock", trick)  # a server may remove its socket late
    plugin.start()
    timeout = "1s" if trick == "slow" else "30s"
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(plugin, timeout)]))
    try:
        async with opened(tmp_path) as (store, encryption):
            problem = await encryption.problem()
            if text:
                assert problem is not None and text in problem and len(problem) < 2000
                if trick != "lines":
                    with pytest.raises(CannotSeal):
                        await store.create(SECRET + "2", VALUE)
            else:
                assert problem is None and SECRET in store.damaged()
    finally:
        plugin.ended.set()
        plugin.stop()
    assert on_disk(tmp_path, SECRET) == before
    write(tmp_path / "encryption.yaml", (["secrets"], [kms(honest)]))
    honest.start()
    try:
        async with opened(tmp_path) as (store, _):
            record = store.get(SECRET)
            assert record is not None and b"c2VjcmV0" in record.value
    finally:
        honest.stop()


async def test_what_kube_apiserver_wrote_is_read(tmp_path: Path) -> None:
    """The values were taken from an etcd that the original wrote, with these keys and this plug-in."""
    plugin = KmsPlugin(tmp_path / "kms.sock").start()
    key = {"keys": [{"name": "key1", "secret": base64.b64encode(b"A" * 32).decode()}]}
    providers = [{name: key} for name in ("aescbc", "aesgcm", "secretbox")]
    write(tmp_path / "encryption.yaml", (["*."], [*providers, kms(plugin)]))
    recorded = json.loads(Path(__file__).with_name("upstream_values.json").read_text())
    try:
        encryption = Encryption(builtin(), str(tmp_path / "encryption.yaml"))
        stored = {entry["key"]: base64.b64decode(entry["value"]) for entry in recorded}
        await encryption.prepare(stored.values())
        for where, value in stored.items():
            plain, seal = encryption.unseal(where, value)
            assert plain.startswith(b"k8s\0") and seal is not None, where
            assert b'"name":"up"' in stamp(plain, 7), "upstream stores protobuf"
        await encryption.close()
    finally:
        plugin.stop()
