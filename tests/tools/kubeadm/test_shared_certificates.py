"""The certificates that control planes share: sealed with a key."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubeadm import shared_certificates
from pybernetes.tools.kubeadm.errors import KubeadmError


def test_shared_certificates_open_with_their_key_only() -> None:
    key = bytes.fromhex(shared_certificates.new_key())
    data = shared_certificates.encrypt(b"secret", key)
    assert b"secret" not in data and shared_certificates.decrypt(data, key) == b"secret"
    for wrong in (bytes(32), key[::-1]):
        with pytest.raises(KubeadmError, match="message authentication failed"):
            shared_certificates.decrypt(data, wrong)
    with pytest.raises(KubeadmError):
        shared_certificates.decrypt(b"", key)
