"""Certificates of the server itself."""

from __future__ import annotations

from cryptography import x509

from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.authn.credentials import (
    World,
)


def test_new_certificates_without_a_restart(world: World) -> None:
    def serial() -> int:
        connection = world.server.connection()
        connection.connect()
        certificate = connection.sock.getpeercert(binary_form=True)
        connection.close()
        assert certificate is not None
        return x509.load_der_x509_certificate(certificate).serial_number

    before = serial()
    certs = world.server.directory / "certs"
    authority = tls.Pair((certs / "ca.crt").read_bytes(), (certs / "ca.key").read_bytes())
    made = tls.issue(authority, "kube-apiserver", names=["127.0.0.1", "localhost"], server=True)
    tls.write_atomically(certs / "apiserver.key", made.key, 0o600)
    assert serial() == before  # the key alone is not enough
    tls.write_atomically(certs / "apiserver.crt", made.certificate)
    assert serial() != before
    stranger = world.certificate("strangers", "zoe")
    both = world.authorities["clients"].certificate + world.authorities["strangers"].certificate
    tls.write_atomically(world.directory / "clients.crt", both)
    assert world.whoami(certificate=stranger)["username"] == "zoe"
    tls.write_atomically(world.directory / "clients.crt", world.authorities["clients"].certificate)
    assert world.whoami(certificate=stranger) == 401
