import socket
import ssl
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pybernetes.lib.tls import tls


def handshake(
    server: ssl.SSLContext, client: ssl.SSLContext, name: str
) -> tuple[dict, dict | None, str | None]:
    """Connect the two; return the server's certificate, the client's as the server sees it, and ALPN."""
    ours, theirs = socket.socketpair()
    seen: list[dict | None] = []

    def serve() -> None:
        try:
            with server.wrap_socket(theirs, server_side=True) as connection:
                seen.append(connection.getpeercert())
                connection.sendall(b"x")
        except OSError:
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(ours, server_hostname=name) as connection:
            assert connection.recv(1) == b"x"
            certificate = connection.getpeercert()
            assert certificate is not None
            return certificate, seen[0], connection.selected_alpn_protocol()
    finally:
        ours.close()
        thread.join(10)


def client_context(authority: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority))
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


def save(directory: Path, stem: str, pair: tls.Pair) -> tuple[Path, Path]:
    files = directory / f"{stem}.crt", directory / f"{stem}.key"
    files[0].write_bytes(pair.certificate)
    files[1].write_bytes(pair.key)
    return files


def test_a_server_made_from_nothing_is_trusted_by_name_and_by_address(tmp_path: Path) -> None:
    certificate, key, authority = tls.ensure_serving(tmp_path / "certs", ["localhost", "127.0.0.1", "::1"])
    server = tls.server_context(certificate, key)
    for name in ("localhost", "127.0.0.1", "::1"):
        shown, peer, protocol = handshake(server, client_context(authority), name)
        assert peer in (None, {})
        assert protocol == "http/1.1"
        assert ("DNS", "localhost") in shown["subjectAltName"]
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, client_context(authority), "example.com")


def test_keys_are_for_the_owner_alone(tmp_path: Path) -> None:
    certificate, key, authority = tls.ensure_serving(tmp_path, ["localhost"])
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "ca.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(certificate.stat().st_mode) == 0o644
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "apiserver.crt", "apiserver.key", "ca.crt", "ca.key",
    ]  # fmt: skip
    assert authority == tmp_path / "ca.crt"


def test_what_is_there_is_used_until_it_does_not_fit(tmp_path: Path) -> None:
    def made(*names: str) -> tuple[bytes, bytes]:
        certificate, _, authority = tls.ensure_serving(tmp_path, names)
        return certificate.read_bytes(), authority.read_bytes()

    first = made("localhost", "10.0.0.1")
    assert made("localhost") == first
    assert made("10.0.0.1", "", "localhost") == first
    second = made("localhost", "other")
    assert second[0] != first[0] and second[1] == first[1]
    (tmp_path / "apiserver.key").unlink()
    third = made("localhost")
    assert third[0] != second[0]
    (tmp_path / "apiserver.crt").write_bytes(b"nonsense")
    assert made("localhost")[0] not in (third[0], b"nonsense")


def test_a_new_authority_makes_a_new_certificate(tmp_path: Path) -> None:
    before = tls.ensure_serving(tmp_path, ["localhost"])[0].read_bytes()
    (tmp_path / "ca.crt").unlink()
    certificate, key, authority = tls.ensure_serving(tmp_path, ["localhost"])
    assert certificate.read_bytes() != before
    handshake(tls.server_context(certificate, key), client_context(authority), "localhost")


def test_a_certificate_near_its_end_is_replaced(tmp_path: Path) -> None:
    tls.ensure_authority(tmp_path)
    authority = tls.Pair((tmp_path / "ca.crt").read_bytes(), (tmp_path / "ca.key").read_bytes())
    old = tls.issue(authority, "old", names=["localhost"], server=True, days=3)
    save(tmp_path, "apiserver", old)
    assert tls.ensure_serving(tmp_path, ["localhost"])[0].read_bytes() != old.certificate


def test_clients_may_show_a_certificate_of_the_authority(tmp_path: Path) -> None:
    certificate, key, authority_file = tls.ensure_serving(tmp_path, ["localhost"])
    authority = tls.Pair(authority_file.read_bytes(), (tmp_path / "ca.key").read_bytes())
    server = tls.server_context(certificate, key, client_ca=authority_file)
    admin = tls.issue(authority, "alice", organizations=["team-a", "system:masters"], client=True)
    client = client_context(authority_file)
    client.load_cert_chain(*save(tmp_path, "alice", admin))
    _, peer, _ = handshake(server, client, "localhost")
    assert peer is not None
    assert peer["subject"] == (
        (("organizationName", "team-a"),),
        (("organizationName", "system:masters"),),
        (("commonName", "alice"),),
    )
    assert handshake(server, client_context(authority_file), "localhost")[1] in (None, {})


def test_clients_of_another_authority_are_refused(tmp_path: Path) -> None:
    certificate, key, authority = tls.ensure_serving(tmp_path, ["localhost"])
    server = tls.server_context(certificate, key, client_ca=authority)
    stranger = tls.issue(tls.create_authority("other"), "mallory", client=True)
    client = client_context(authority)
    client.load_cert_chain(*save(tmp_path, "mallory", stranger))
    with pytest.raises(OSError):
        handshake(server, client, "localhost")


def test_other_certificates_for_other_names(tmp_path: Path) -> None:
    certificate, key, authority_file = tls.ensure_serving(tmp_path, ["localhost"])
    authority = tls.Pair(authority_file.read_bytes(), (tmp_path / "ca.key").read_bytes())
    other = save(tmp_path, "other", tls.issue(authority, "other", names=["*.example.com"], server=True))
    server = tls.server_context(certificate, key, by_name={"*.example.com": other})
    assert handshake(server, client_context(authority_file), "api.example.com")[0]["subject"] == (
        (("commonName", "other"),),
    )
    handshake(server, client_context(authority_file), "localhost")


def test_new_files_are_used_for_new_connections(tmp_path: Path) -> None:
    certificate, key, authority_file = tls.ensure_serving(tmp_path, ["localhost"])
    authority = tls.Pair(authority_file.read_bytes(), (tmp_path / "ca.key").read_bytes())
    server = tls.server_context(certificate, key)
    tls.reload(server, *save(tmp_path, "new", tls.issue(authority, "new", names=["localhost"], server=True)))
    shown = handshake(server, client_context(authority_file), "localhost")[0]
    assert shown["subject"] == ((("commonName", "new"),),)


def test_a_mismatched_pair_is_refused() -> None:
    one, two = tls.create_authority("one"), tls.create_authority("two")
    with pytest.raises(ValueError, match="do not belong together"):
        tls.load(tls.Pair(one.certificate, two.key))


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        tls.write_atomically(tmp_path / "file", "text")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_importing_it_is_cheap() -> None:
    code = "import sys, pybernetes.lib.tls.tls; print('cryptography' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "False\n"


def test_private_keys_are_written_in_the_form_that_java_clients_read() -> None:
    """SEC 1, not PKCS 8, which is what kubeconfigs get from them."""
    authority = tls.create_authority("ca")
    for pair in (authority, tls.issue(authority, "admin")):
        assert pair.key.startswith(b"-----BEGIN EC PRIVATE KEY-----\n")


@pytest.mark.parametrize("preface", ["", "# a comment\n" * 4000])
def test_large_bundles_are_read_in_parts(preface: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of Python runs while the library reads certificates: a megabyte of them would be 70 ms."""
    bundle = preface + "".join(
        tls.create_authority(f"a{number}").certificate.decode() for number in range(80)
    )
    assert len(bundle) > 40_000
    longest = 0
    load = ssl.SSLContext.load_verify_locations

    def counted(self: ssl.SSLContext, *, cadata: str) -> None:
        nonlocal longest
        longest = max(longest, len(cadata))
        load(self, cadata=cadata)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
    context = tls.client_context(authority_data=bundle)
    assert len(context.get_ca_certs()) == 80
    assert longest < 18_000 + len(preface)


@pytest.mark.parametrize("bundle", ["x", "\n", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"])
def test_what_is_no_authority_is_refused(bundle: str) -> None:
    with pytest.raises(ssl.SSLError):
        tls.client_context(authority_data=bundle)
    good = tls.create_authority("a").certificate.decode()
    if "BEGIN" in bundle:
        with pytest.raises(ssl.SSLError):
            tls.client_context(authority_data=good * 40 + bundle)
