"""Encryption by plug-ins: those that come and go, those that mean harm, and what upstream had one write."""

from __future__ import annotations

import base64
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.protocol import CannotSeal
from pybernetes.lib.metrics.exposition import Exposition
from tests.control_plane.apiserver.encryption.encrypted_store import (
    SECRET,
    VALUE,
    on_disk,
    opened,
    write,
)
from tests.control_plane.apiserver.encryption.kms_plugin import KmsPlugin
from tests.support import eventually


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
    recorded = json.loads((Path(__file__).parents[1] / "upstream_values.json").read_text())
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
