"""Certificates of pods in projected volumes: asked for, issued by a signer, renewed, turned down."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from pybernetes.client.refs import NODES, POD_CERTIFICATE_REQUESTS, PODS, SERVICE_ACCOUNTS
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.tls import tls
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.kinds import _certificate
from pybernetes.node.kubelet.volumes.kinds.projected import VOLUME
from pybernetes.node.kubelet.volumes.volume_inputs import VolumeInputs
from pybernetes.node.kubelet.volumes.volume_kind import VolumeRequest
from tests.cluster import Cluster

SIGNER = "example.com/signer"
HOUR = timedelta(hours=1)
AUTHORITY, AUTHORITY_KEY = tls.load(tls.create_authority("signer"))


def issue(spec: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Return what a signer answers: a certificate for the key of the request."""
    stub = x509.load_der_x509_csr(base64.b64decode(spec["stubPKCS10Request"]))
    assert stub.is_signature_valid
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(AUTHORITY.subject)
        .public_key(stub.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + 24 * HOUR)
        .sign(AUTHORITY_KEY, hashes.SHA256())  # type: ignore[arg-type]
    )
    moments = {"notBefore": now, "beginRefreshAt": now + 16 * HOUR, "notAfter": now + 24 * HOUR}
    condition = {"type": "Issued", "reason": "Issued", "message": "here", "status": "True"}
    return {
        **{name: rfc3339.seconds(moment.timestamp()) for name, moment in moments.items()},
        "certificateChain": certificate.public_bytes(serialization.Encoding.PEM).decode(),
        "conditions": [condition | {"lastTransitionTime": rfc3339.seconds(now.timestamp())}],
    }


class Pod:
    """A pod with a certificate, on a node, as its kubelet sees it."""

    def __init__(self, cluster: Cluster, node: dict[str, Any], pod: dict[str, Any]) -> None:
        self.cluster, self.pod = cluster, pod
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.clock = ManualClock(self.now.timestamp())
        self.inputs = VolumeInputs(Path("/nowhere"), cluster.client, None, self.clock, lambda: node)

    @classmethod
    async def make(cls, cluster: Cluster) -> Pod:
        node = await cluster.client.create(NODES, {"metadata": {"name": "node"}})
        await cluster.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, "default")
        spec = {
            "nodeName": "node",
            "serviceAccountName": "default",
            "containers": [{"name": "c", "image": "i"}],
        }
        return cls(
            cluster,
            node,
            await cluster.client.create(PODS, {"metadata": {"name": "p"}, "spec": spec}, "default"),
        )

    async def files(self, **source: Any) -> dict[str, bytes]:
        """Return what is written into the volume."""
        given = {"signerName": SIGNER, "keyType": "ECDSAP256", "credentialBundlePath": "bundle.pem", **source}
        volume = {"sources": [{"podCertificate": given}]}
        files = await VOLUME.files(VolumeRequest(self.pod, "v", volume, Path("/nowhere"), self.inputs))
        return {path: item.data for path, item in files.items()}

    async def answer(self, **status: Any) -> dict[str, Any]:
        """Wait for a request without an answer and answer it: with a certificate if nothing else is given."""
        async with self.cluster.client.watch(POD_CERTIFICATE_REQUESTS, "default", initial=True) as events:
            async for event in events:
                if event.type == "ADDED" and not (event.object.get("status") or {}).get("conditions"):
                    answer = {**event.object, "status": status or issue(event.object["spec"], self.now)}
                    return await self.cluster.client.update(
                        POD_CERTIFICATE_REQUESTS, answer, subresource="status"
                    )
        raise AssertionError("nobody asked")


@pytest.mark.parametrize("key_type", ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072"])
async def test_asked_for_and_kept(key_type: str) -> None:
    async with Cluster() as cluster:
        pod = await Pod.make(cluster)
        paths = {"keyPath": "key.pem", "certificateChainPath": "chain.pem", "keyType": key_type}
        given = {"maxExpirationSeconds": 86400, "userAnnotations": {"example.com/a": "b"}}
        files, answered = await asyncio.gather(pod.files(**paths, **given), pod.answer())
        assert files["bundle.pem"] == files["key.pem"] + files["chain.pem"]
        key = serialization.load_pem_private_key(files["key.pem"], None)
        assert x509.load_pem_x509_certificate(files["chain.pem"]).public_key() == key.public_key()
        spec = answered["spec"]
        assert (spec["podUID"], spec["nodeName"]) == (pod.pod["metadata"]["uid"], "node")
        assert (spec["maxExpirationSeconds"], spec["unverifiedUserAnnotations"]) == (
            86400,
            {"example.com/a": "b"},
        )
        assert answered["metadata"]["ownerReferences"][0]["uid"] == pod.pod["metadata"]["uid"]
        assert await pod.files(**paths, **given) == files  # without another request
        assert len((await cluster.client.list(POD_CERTIFICATE_REQUESTS, "default")).items) == 1


async def test_renewed_when_the_signer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Cluster() as cluster:
        pod = await Pod.make(cluster)
        answering = asyncio.create_task(pod.answer())
        first = await pod.files()
        await answering
        await pod.clock.advance(17 * 3600)
        monkeypatch.setattr(_certificate, "_PATIENCE", 0.1)
        assert await pod.files() == first  # until there is another one
        await pod.answer()
        monkeypatch.setattr(_certificate, "_PATIENCE", 60.0)
        assert (await pod.files())["bundle.pem"] != first["bundle.pem"]
        assert len((await cluster.client.list(POD_CERTIFICATE_REQUESTS, "default")).items) == 2


async def test_turned_down_for_good() -> None:
    condition = {
        "type": "Denied",
        "status": "True",
        "reason": "Because",
        "message": "no",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    async with Cluster() as cluster:
        pod = await Pod.make(cluster)
        answer = asyncio.create_task(pod.answer(conditions=[condition]))
        for _ in range(2):
            with pytest.raises(VolumeError, match='was denied, reason="Because", message="no"'):
                await pod.files()
        await answer
        assert len((await cluster.client.list(POD_CERTIFICATE_REQUESTS, "default")).items) == 1


async def test_a_request_that_is_gone_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_certificate, "_PATIENCE", 0.1)
    async with Cluster() as cluster:
        pod = await Pod.make(cluster)
        with pytest.raises(VolumeError, match="has not answered yet"):
            await pod.files()
        (asked,) = (await cluster.client.list(POD_CERTIFICATE_REQUESTS, "default")).items
        await cluster.client.delete(POD_CERTIFICATE_REQUESTS, asked["metadata"]["name"], "default")
        monkeypatch.setattr(_certificate, "_PATIENCE", 60.0)
        with pytest.raises(VolumeError, match="deleted"):
            await pod.files()
        answering = asyncio.create_task(pod.answer())
        files = await pod.files()
        await answering
        assert b"PRIVATE KEY" in files["bundle.pem"]
