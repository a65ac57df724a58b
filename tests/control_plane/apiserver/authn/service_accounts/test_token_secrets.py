"""Tokens that live in secrets, on a running server."""

from __future__ import annotations

import base64

from pybernetes.lib.tokens import jose
from tests.control_plane.apiserver.authn.credentials import (
    ROBOTS,
    World,
    uid_of,
)


def test_tokens_in_secrets(world: World) -> None:
    uid, prefix = uid_of(world, "robot"), "kubernetes.io/serviceaccount/"
    claims = {
        "iss": "kubernetes/serviceaccount",
        "sub": "system:serviceaccount:default:robot",
        f"{prefix}namespace": "default",
        f"{prefix}secret.name": "in-secret",
        f"{prefix}service-account.name": "robot",
        f"{prefix}service-account.uid": uid,
    }
    token = jose.sign(world.key, claims)
    assert world.whoami(token=token) == 401
    path = "/api/v1/namespaces/default/secrets"
    annotations = {"kubernetes.io/service-account.name": "robot", "kubernetes.io/service-account.uid": uid}
    secret = {
        "metadata": {"name": "in-secret", "annotations": annotations},
        "type": "kubernetes.io/service-account-token",
        "data": {"token": base64.b64encode(token.encode()).decode()},
    }
    assert world.server.call("POST", path, secret)[0] == 201
    assert world.whoami(token=token) == {
        "username": "system:serviceaccount:default:robot",
        "uid": uid,
        "groups": ROBOTS,
    }
    assert world.whoami(token=jose.sign(world.key, {**claims, "x": 1})) == 401
    assert world.server.call("DELETE", f"{path}/in-secret")[0] == 200
    assert world.whoami(token=token) == 401
