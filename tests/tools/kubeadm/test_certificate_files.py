"""Keys as kubeadm writes them."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubeadm.certificate_files import key_pem, new_key


@pytest.mark.parametrize(
    ("algorithm", "kind"), [("ECDSA-P256", b"EC"), ("ECDSA-P384", b"EC"), ("RSA-2048", b"RSA")]
)
def test_keys_are_written_in_the_form_that_java_clients_read(algorithm: str, kind: bytes) -> None:
    assert key_pem(new_key(algorithm)).startswith(b"-----BEGIN %s PRIVATE KEY-----\n" % kind)
