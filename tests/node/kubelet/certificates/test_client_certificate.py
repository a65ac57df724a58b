"""Whether the kubelet's stored client certificate is still good."""

from __future__ import annotations

from pathlib import Path

from pybernetes.lib.tls import tls
from pybernetes.node.kubelet.certificates import client_certificate
from pybernetes.node.kubelet.options import Options


def test_a_certificate_that_has_ended_is_asked_for_anew(tmp_path: Path) -> None:
    authority = tls.create_authority("a")
    options = Options("node9", certificates=tmp_path)
    pem = tmp_path / "kubelet-client-current.pem"
    assert client_certificate._is_valid(options)  # none of its own: somebody else takes care of it
    pem.write_bytes(tls.issue(authority, "x", client=True, days=1).certificate)
    assert client_certificate._is_valid(options)
    pem.write_bytes(tls.issue(authority, "x", client=True, days=0).certificate)
    assert not client_certificate._is_valid(options)
    pem.write_text("nothing")
    assert not client_certificate._is_valid(options)
