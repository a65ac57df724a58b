import ssl

import pytest

from pybernetes.lib.tls import ciphers


def test_every_suite_has_a_name_that_openssl_can_read() -> None:
    for name in (*ciphers.PREFERRED, *ciphers.INSECURE):
        assert ciphers.openssl_list([name])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    for name, ours in ciphers.PREFERRED.items():
        context.set_ciphers(ours)
        assert ours in {suite["name"] for suite in context.get_ciphers()}, name


def test_lists() -> None:
    assert ciphers.openssl_list([]) == ""
    assert ciphers.openssl_list(["TLS_AES_128_GCM_SHA256"]) is None
    names = [
        "TLS_AES_128_GCM_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_RSA_WITH_AES_128_CBC_SHA",
    ]
    assert ciphers.openssl_list(names) == "ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA"
    with pytest.raises(ValueError, match="Cipher suite FOO not supported or doesn't exist"):
        ciphers.openssl_list(["FOO"])


def test_versions() -> None:
    assert ciphers.minimum_version("") == ssl.TLSVersion.TLSv1_2
    assert ciphers.minimum_version("VersionTLS13") == ssl.TLSVersion.TLSv1_3
    with pytest.raises(ValueError, match='unknown tls version "TLS13"'):
        ciphers.minimum_version("TLS13")
