"""Credentials for pulling images."""

from __future__ import annotations

import base64
from typing import Any

import orjson

from pybernetes.node.kubelet.images.registry_credentials import credentials, with_registry


def test_credentials_of_images() -> None:
    def secret(**auths: str) -> dict[str, Any]:
        entries = {
            name.replace("__", "/").replace("_", "."): {"username": user} for name, user in auths.items()
        }
        value = orjson.dumps({"auths": entries})
        return {"data": {".dockerconfigjson": base64.b64encode(value).decode()}}

    given_ = [secret(r_example="wide", r_example__team="narrow", other="no")]
    assert [credential["username"] for credential in credentials("r.example/team/x:1", given_)] == [
        "narrow",
        "wide",
    ]
    assert credentials("busybox", given_) == []
    assert with_registry("busybox") == "docker.io/library/busybox"
    assert with_registry("localhost/x") == "localhost/x"
