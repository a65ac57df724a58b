"""Credentials for pulling images."""

from __future__ import annotations

import base64
import logging
from typing import Any

import orjson
import pytest

from pybernetes.node.kubelet.images.registry_credentials import credentials, with_registry


def test_credentials_of_images() -> None:
    def secret(**auths: str) -> dict[str, Any]:
        entries = {
            name.replace("__", "/").replace("_", "."): {"username": user} for name, user in auths.items()
        }
        value = orjson.dumps({"auths": entries})
        return {"data": {".dockerconfigjson": base64.b64encode(value).decode()}}

    given_ = [secret(r_example="wide", r_example__team="narrow", other="no")]
    assert [credential.auth["username"] for credential in credentials("r.example/team/x:1", given_)] == [
        "narrow",
        "wide",
    ]
    assert credentials("busybox", given_) == []
    assert with_registry("busybox") == "docker.io/library/busybox"
    assert with_registry("localhost/x") == "localhost/x"


@pytest.mark.parametrize(
    ("pattern", "image", "meant"),
    [
        ("*.example.com", "a.example.com/x", True),
        ("*.example.com", "a.b.example.com/x", False),
        ("*.example.com", "example.com/x", False),
        ("a.*.com:5000", "a.example.com:5000/x", True),
        ("a.example.com", "a.example.com:5000/x", False),
        ("https://a.example.com/v2/", "a.example.com/x", True),
        ("a.example.com/team", "a.example.com/other/x", False),
        ("[", "a.example.com/x", False),
    ],
)
def test_credentials_go_to_no_other_registry(pattern: str, image: str, meant: bool) -> None:
    value = orjson.dumps({"auths": {pattern: {"username": "u", "password": "p"}}})
    secret = {"data": {".dockerconfigjson": base64.b64encode(value).decode()}}
    assert bool(credentials(image, [secret])) is meant


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"auths": []}', b'{"auths": {"r": 1}}', b'{"auths": {"r": {"auth": 1}}}', b'{"auths": {"r": {"auth": "!"}}}',
     b'{"auths": {"r": {"auth": "/w=="}}}', b'{"auths": {"r": {"password": {}}}}', b"secret-in-the-wrong-place", b"\xff"],
)  # fmt: skip
def test_malformed_secrets_are_passed_over_in_silence(
    content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """CVE-2020-8564: the contents of a malformed docker configuration were logged."""
    secret = {"data": {".dockerconfigjson": base64.b64encode(content).decode()}}
    with caplog.at_level(logging.DEBUG):
        assert (
            credentials("r/x", [secret, {"data": {".dockercfg": secret["data"][".dockerconfigjson"]}}]) == []
        )
    assert not caplog.records
