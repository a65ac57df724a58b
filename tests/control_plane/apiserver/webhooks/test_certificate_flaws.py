"""A webhook's certificate without a subject alternative name, or signed with SHA-1, is refused and counted."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pybernetes.control_plane.apiserver.webhooks.certificate_flaws import CertificateFlaws
from pybernetes.lib.http.client import Distrusted, HttpClient, Peer
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.tls import tls


def counted(flaws: CertificateFlaws) -> list[str]:
    out = Exposition()
    flaws.render(out)
    return [line for line in out.render().decode().splitlines() if line[0] != "#"]


def named_by_subject_only(folder: Path) -> Path:
    """Write a certificate that is its own authority and has a common name and nothing else."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=localhost")
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(
        now + datetime.timedelta(1)
    )
    builder = builder.add_extension(x509.BasicConstraints(True, None), True)
    file = folder / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return file


@asynccontextmanager
async def serving(certificate: Path) -> AsyncIterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_a_name_in_the_subject_alone_is_refused(tmp_path: Path) -> None:
    flaws, https, file = CertificateFlaws(), HttpClient(), named_by_subject_only(tmp_path)
    async with serving(file) as port:
        peer = Peer("127.0.0.1", port, tls.client_context(file), "localhost")
        with pytest.raises(Distrusted) as refused:
            await https.send(peer, "POST", "/", b"{}", {}, 10)
        assert "legacy Common Name" in await flaws.note(https, peer, refused.value)
    https.close()
    assert counted(flaws) == [
        "apiserver_webhooks_x509_missing_san_total 1",
        "apiserver_webhooks_x509_insecure_sha1_total 0",
    ]


async def test_another_name_is_no_flaw_and_a_weak_digest_is(tmp_path: Path) -> None:
    flaws, https = CertificateFlaws(), HttpClient()
    authority = tls.create_authority("ca")
    pair = tls.issue(authority, "elsewhere", names=["elsewhere"], server=True)
    (tmp_path / "both.pem").write_bytes(pair.key + pair.certificate)
    (tmp_path / "ca.pem").write_bytes(authority.certificate)
    async with serving(tmp_path / "both.pem") as port:
        peer = Peer("127.0.0.1", port, tls.client_context(tmp_path / "ca.pem"), "localhost")
        with pytest.raises(Distrusted) as refused:
            await https.send(peer, "POST", "/", b"{}", {}, 10)
        assert await flaws.note(https, peer, refused.value) == str(refused.value)
    await flaws.note(https, peer, Distrusted("tls: failed to verify certificate: x509: too weak", 68))
    https.close()
    assert [line.rsplit(" ", 1)[1] for line in counted(flaws)] == ["0", "1"]
