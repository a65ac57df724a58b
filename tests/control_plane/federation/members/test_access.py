from __future__ import annotations

import base64
from typing import Any

import pytest

from pybernetes.control_plane.federation.members import access


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a:6443", "https://a:6443"),
        ("a", "https://a"),
        ("10.0.0.1:6443", "https://10.0.0.1:6443"),
        ("https://a/b", "https://a/b"),
    ],
)
def test_endpoints(text: str, expected: str) -> None:
    assert access.endpoint(text) == expected


@pytest.mark.parametrize("text", ["http://a", "ftp://a", "https://", "https://user@a", "https://a?b=c"])
def test_no_endpoints(text: str) -> None:
    with pytest.raises(ValueError, match=r"spec\.apiEndpoint"):
        access.endpoint(text)


@pytest.mark.parametrize(
    ("spec", "data", "message"),
    [
        ({"proxyURL": "http://proxy"}, None, "spec.proxyURL"),
        ({}, None, "has no token"),
        ({}, "%%", "not base64"),
        ({"caBundle": "AP8="}, base64.b64encode(b"t").decode(), "spec.caBundle"),
    ],
)
async def test_why_there_is_no_client(spec: dict[str, Any], data: str | None, message: str) -> None:
    cluster = {"spec": {"apiEndpoint": "https://a", "secretRef": {"name": "s"}, **spec}}
    with pytest.raises(ValueError, match=message):
        access.client_of(cluster, {"data": {"token": data}} if data else None, 1)


def test_certificates_are_checked_unless_told_otherwise() -> None:
    import ssl

    whole = access.MemberAuthority(None, frozenset()).make()
    assert whole.check_hostname and whole.verify_mode == ssl.CERT_REQUIRED
    named = access.MemberAuthority(None, frozenset({"SubjectName"})).make()
    assert not named.check_hostname and named.verify_mode == ssl.CERT_REQUIRED
    timeless = access.MemberAuthority(None, frozenset({"ValidityPeriod"})).make()
    assert timeless.check_hostname and timeless.verify_flags & 0x200000
    assert access.MemberAuthority(None, frozenset({"*"})).make().verify_mode == ssl.CERT_NONE
