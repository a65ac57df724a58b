"""A real TLS server whose files change under it."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import (
    CABundle,
    KeyPair,
    ServingCertificates,
    certificate_names,
    match,
    own_pair,
    verified_chain,
)
from tests.support import eventually


def write(path: Path, content: bytes) -> Path:
    """Write as one should: another file takes the place of the one that is there."""
    tls.write_atomically(path, content)
    return path


class Files:
    """A directory with an authority, and certificates of it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.authority = tls.create_authority("authority")
        write(directory / "ca.crt", self.authority.certificate)

    def issue(
        self, stem: str, *names: str, authority: tls.Pair | None = None, client: bool = False
    ) -> KeyPair:
        pair = tls.issue(authority or self.authority, stem, names=names, server=not client, client=client)
        # The key first, as people do: in between, the two do not belong together.
        key = write(self.directory / f"{stem}.key", pair.key)
        return KeyPair(write(self.directory / f"{stem}.crt", pair.certificate), key)


class Peer(asyncio.Protocol):
    """Answers with the common name of the client, and whether it is one of those that are trusted."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = transport.get_extra_info("ssl_object")
        shown = connection.getpeercert()
        name = dict(part[0] for part in shown["subject"])["commonName"] if shown else "nobody"
        if shown and not verified_chain(connection):
            name = f"not {name}"
        transport.write(name.encode())  # type: ignore[attr-defined]


@asynccontextmanager
async def listening(serving: ServingCertificates) -> AsyncIterator[int]:
    server = await asyncio.get_running_loop().create_server(Peer, "127.0.0.1", 0, ssl=serving.context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def visit(
    port: int,
    authority: Path,
    name: str = "localhost",
    client: KeyPair | None = None,
    **limits: ssl.TLSVersion,
) -> tuple[str, int, ssl.SSLSession | None]:
    """Connect: whom the server takes us for, the serial of its certificate, and the session."""

    def go() -> tuple[str, int, ssl.SSLSession | None]:
        context = ssl.create_default_context(cafile=str(authority))
        for key, value in limits.items():
            setattr(context, key, value)
        if client is not None:
            context.load_cert_chain(client.certificate, client.key)
        plain = socket.create_connection(("127.0.0.1", port), timeout=60)
        with plain, context.wrap_socket(plain, server_hostname=name) as secure:
            text = secure.recv(100).decode()
            if not text:  # with TLS 1.3 a client learns only now that it is refused
                raise ConnectionError("refused")
            return text, int(secure.getpeercert()["serialNumber"], 16), secure.session  # type: ignore[index, arg-type]

    return await asyncio.to_thread(go)


def serial(pair: KeyPair) -> int:
    from cryptography import x509

    return x509.load_pem_x509_certificate(pair.certificate.read_bytes()).serial_number


async def test_new_certificates_are_served_to_new_connections(tmp_path: Path) -> None:
    files = Files(tmp_path)
    pair = files.issue("server", "localhost")
    first = serial(pair)
    async with listening(ServingCertificates(pair)) as port:
        assert (await visit(port, tmp_path / "ca.crt"))[1] == first
        files.issue("server", "localhost")
        assert serial(pair) != first
        assert (await visit(port, tmp_path / "ca.crt"))[1] == serial(pair)


async def test_a_certificate_of_our_own_is_made_anew_before_it_ends(tmp_path: Path) -> None:
    pair, authority = own_pair(tmp_path, ("localhost",), "server")
    fresh = serial(pair)
    made = tls.Pair(authority.read_bytes(), (tmp_path / "ca.key").read_bytes())
    ending = tls.issue(made, "server", names=("localhost",), server=True, days=tls.RENEW_DAYS - 1)
    for file, content in ((pair.key, ending.key), (pair.certificate, ending.certificate)):
        write(file, content)
    old = serial(pair)
    async with listening(ServingCertificates(pair)) as port:
        assert (await visit(port, authority))[1] == old != fresh
        await eventually(lambda: serial(pair) != old)
        assert (await visit(port, authority))[1] == serial(pair)
    assert (tmp_path / "ca.crt").read_bytes() == made.certificate
    assert tls.validity(pair.certificate)[1] > time.time() + 300 * 86400


async def test_a_certificate_that_cannot_be_made_anew_is_served_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files, tries = Files(tmp_path), []

    def renew() -> None:
        tries.append(1)
        raise OSError("no space left")

    ending = tls.issue(files.authority, "server", names=("localhost",), server=True, days=1)
    pair = KeyPair(
        write(tmp_path / "server.crt", ending.certificate),
        write(tmp_path / "server.key", ending.key),
        renew=renew,
    )
    async with listening(ServingCertificates(pair)) as port:
        for _ in range(3):
            assert (await visit(port, tmp_path / "ca.crt"))[1] == serial(pair)
        await eventually(lambda: "could not be made anew: no space left" in caplog.text)
    assert len(tries) == 1


async def test_files_that_cannot_be_used_change_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path)
    pair = files.issue("server", "localhost")
    good, first = pair.certificate.read_bytes(), serial(pair)
    async with listening(ServingCertificates(pair, bundles=[CABundle(tmp_path / "ca.crt")])) as port:
        for content in (b"", b"nonsense", tls.issue(files.authority, "other", server=True).certificate):
            write(pair.certificate, content)
            assert (await visit(port, tmp_path / "ca.crt"))[1] == first
        pair.certificate.unlink()
        assert (await visit(port, tmp_path / "ca.crt"))[1] == first
        os.mkfifo(pair.certificate)  # nobody writes to it
        assert (await visit(port, tmp_path / "ca.crt"))[1] == first
        pair.certificate.unlink()
        write(pair.certificate, good)
        authority = (tmp_path / "ca.crt").read_bytes()
        write(tmp_path / "ca.crt", b"")
        write(tmp_path / "trust.crt", authority)
        assert (await visit(port, tmp_path / "trust.crt"))[1] == first


async def test_authorities_of_clients_come_and_go(tmp_path: Path) -> None:
    files = Files(tmp_path)
    pair = files.issue("server", "localhost")
    other = tls.create_authority("other")
    alice = files.issue("alice", client=True)
    bob = files.issue("bob", client=True, authority=other)
    write(tmp_path / "clients.crt", files.authority.certificate)
    bundle = CABundle(tmp_path / "clients.crt")
    serving = ServingCertificates(pair, bundles=[bundle])
    told: list[int] = []
    serving.listeners.append(lambda: told.append(len(bundle.certificates)))
    async with listening(serving) as port:
        assert (await visit(port, tmp_path / "ca.crt"))[0] == "nobody"
        assert (await visit(port, tmp_path / "ca.crt", client=alice))[0] == "alice"
        assert (await visit(port, tmp_path / "ca.crt", client=bob))[0] == "not bob"
        write(tmp_path / "clients.crt", files.authority.certificate + other.certificate)
        assert (await visit(port, tmp_path / "ca.crt", client=bob))[0] == "bob"
        write(tmp_path / "clients.crt", other.certificate)
        assert (await visit(port, tmp_path / "ca.crt", client=alice))[0] == "not alice"
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):  # what comes after it works as well
            assert (await visit(port, tmp_path / "ca.crt", client=alice, maximum_version=version))[
                0
            ] == "not alice"
    assert told == [2, 1]


async def test_other_names_get_other_certificates(tmp_path: Path) -> None:
    files = Files(tmp_path)
    default = files.issue("server", "localhost")
    listed = files.issue("listed", "a.example", "*.wild.example")
    explicit = files.issue("explicit", "b.example", "a.example")
    explicit = KeyPair(explicit.certificate, explicit.key, ("b.example",))
    async with listening(ServingCertificates(default, [listed, explicit])) as port:
        for name, pair in (
            ("localhost", default),
            ("a.example", listed),
            ("A.Example", listed),
            ("x.wild.example", listed),
            ("b.example", explicit),
        ):
            assert (await visit(port, tmp_path / "ca.crt", name))[1] == serial(pair), name


async def test_versions_and_suites(tmp_path: Path) -> None:
    files = Files(tmp_path)
    pair = files.issue("server", "localhost")
    newest, older = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2
    for serving in (ServingCertificates(pair, minimum=newest), ServingCertificates(pair, ciphers=None)):
        async with listening(serving) as port:
            await visit(port, tmp_path / "ca.crt", minimum_version=newest)
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await visit(port, tmp_path / "ca.crt", maximum_version=older)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_sessions_are_not_resumed(tmp_path: Path, version: ssl.TLSVersion) -> None:
    files = Files(tmp_path)
    pair, alice = files.issue("server", "localhost"), files.issue("alice", client=True)

    def twice(port: int) -> list[bool]:
        context = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
        context.maximum_version = version
        context.load_cert_chain(alice.certificate, alice.key)
        reused, session = [], None
        for _ in range(3):
            plain = socket.create_connection(("127.0.0.1", port), timeout=60)
            with plain, context.wrap_socket(plain, server_hostname="localhost", session=session) as secure:
                secure.recv(100)
                session = secure.session
                reused.append(bool(secure.session_reused))
        return reused

    async with listening(ServingCertificates(pair, bundles=[CABundle(tmp_path / "ca.crt")])) as port:
        assert await asyncio.to_thread(twice, port) == [False] * 3


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("a.b.c", "a.b.c"),
        ("x.b.c", "*.b.c"),
        ("x.y.c", "*.*.c"),
        ("a.b.c.", "a.b.c"),
        ("x.y.z", "*.*.*"),
        ("x.y", None),
        ("", None),
    ],
)
def test_matching_names(name: str, pattern: str | None) -> None:
    contexts = {key: key for key in ("a.b.c", "*.b.c", "*.*.c", "*.*.*")}
    assert match(contexts, name) == pattern  # type: ignore[arg-type, comparison-overlap]


def test_names_in_certificates(tmp_path: Path) -> None:
    files = Files(tmp_path)
    assert certificate_names(files.issue("kube", "a.example", "10.0.0.1").certificate) == [
        "kube",
        "a.example",
    ]
    assert certificate_names(files.issue("10.0.0.1", "a.example").certificate) == ["a.example"]
    assert certificate_names(files.issue("Some Body").certificate) == []


def test_bundles_need_certificates(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not contain any valid certificates"):
        CABundle(write(tmp_path / "empty", b"nothing"))
