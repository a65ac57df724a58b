"""Tokens that a running server makes for service accounts: what they say, and when they end."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.tokens import jose
from tests.control_plane.apiserver.authn.credentials import (
    ACCOUNTS,
    ROBOTS,
    World,
    uid_of,
)


def test_a_token(world: World) -> None:
    token = world.token("robot")
    user = world.whoami(token=token)
    credential = user.pop("extra")["authentication.kubernetes.io/credential-id"]
    assert credential[0].startswith("JTI=")
    name = "system:serviceaccount:default:robot"
    assert user == {"username": name, "uid": uid_of(world, "robot"), "groups": ROBOTS}


def test_what_a_token_request_says(world: World) -> None:
    path, uid = f"{ACCOUNTS}/robot/token", uid_of(world, "robot")
    status, made = world.server.call("POST", path, {"spec": {"audiences": ["x"], "expirationSeconds": 700}})
    assert (
        status == 201 and made["kind"] == "TokenRequest" and made["apiVersion"] == "authentication.k8s.io/v1"
    )
    assert made["metadata"].items() >= {"name": "robot", "namespace": "default", "uid": uid}.items()
    assert made["spec"] == {"audiences": ["x"], "expirationSeconds": 700, "boundObjectRef": None}
    ends = (
        time.mktime(time.strptime(made["status"]["expirationTimestamp"], "%Y-%m-%dT%H:%M:%SZ"))
        - time.timezone
    )
    assert 690 < ends - time.time() <= 700


MISMATCH = "the namespace of the provided object does not match the namespace sent on the request"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"spec": {"expirationSeconds": 10}}, 422, 'TokenRequest.authentication.k8s.io "" is invalid: '
         "spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes"),
        ({"spec": {"expirationSeconds": 2**33}}, 422, 'TokenRequest.authentication.k8s.io "" is invalid: '
         "spec.expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds"),
        ({"metadata": {"name": "x"}}, 422, 'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: '
         'Invalid value: "x": must match the service account name if specified'),
        ({"metadata": {"namespace": "x"}}, 400, MISMATCH),
        ({"metadata": {"uid": "x"}}, 409, "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "
         '"robot": the UID in the token request (x) does not match the UID of the service account ({uid})'),
        ({"spec": {"attestations": {"a": ["b"]}}}, 422, 'TokenRequest.authentication.k8s.io "" is invalid: '
         'spec.attestations: Invalid value: {"a":["b"]}: attestations may only be specified with a webhook bound '
         "object reference"),
        ({"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "x"}}}, 404, 'pods "x" not found'),
        ({"spec": {"boundObjectRef": {"kind": "Node", "apiVersion": "v1", "name": "x"}}}, 404, 'nodes "x" not found'),
        ({"spec": {"boundObjectRef": {"kind": "Foo", "apiVersion": "v1", "name": "x"}}}, 400,
         "cannot bind token to object of type /v1, Kind=Foo"),
        ({"spec": {"boundObjectRef": {"name": "x"}}}, 400, "cannot bind token to object of type /, Kind="),
        ({"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "apps/v1", "name": "x"}}}, 400,
         "cannot bind token to object of type apps/v1, Kind=Pod"),
    ],
)  # fmt: skip
def test_token_requests_that_are_refused(world: World, body: Any, status: int, message: str) -> None:
    answer = world.server.call("POST", f"{ACCOUNTS}/robot/token", body)
    expected = message.replace("{uid}", uid_of(world, "robot"))
    assert (answer[0], answer[1]["message"]) == (status, expected)


def test_token_requests_elsewhere(world: World) -> None:
    assert world.server.call("POST", f"{ACCOUNTS}/nobody/token", {})[1]["message"] == (
        'serviceaccounts "nobody" not found'
    )
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        assert world.server.call(method, f"{ACCOUNTS}/robot/token", {})[0] == 405, method
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    assert world.server.call("POST", f"{ACCOUNTS}/robot/token", {}, headers=table)[0] == 406


def test_a_token_lasts_no_longer_than_allowed(world: World) -> None:
    status, made = world.server.call(
        "POST", f"{ACCOUNTS}/robot/token", {"spec": {"expirationSeconds": 999_999}}
    )
    assert status == 201 and made["spec"]["expirationSeconds"] == 48 * 3600


def pod(name: str, account: str = "robot") -> dict[str, Any]:
    containers = [{"name": "c", "image": "example/image:1"}]
    return {"metadata": {"name": name}, "spec": {"serviceAccountName": account, "containers": containers}}


def reference(kind: str, name: str, uid: str = "") -> dict[str, Any]:
    return {"kind": kind, "apiVersion": "v1", "name": name, **({"uid": uid} if uid else {})}


PODS = "/api/v1/namespaces/default/pods"


def test_tokens_of_pods(world: World) -> None:
    assert world.server.call("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})[0] == 201
    spec = pod("p1")
    spec["spec"]["nodeName"] = "n1"
    status, made = world.server.call("POST", PODS, spec)
    assert status == 201, made
    uid = made["metadata"]["uid"]
    token = world.token("robot", boundObjectRef=reference("Pod", "p1", uid), expirationSeconds=3607)
    claims = json.loads(jose.decode(token.split(".")[1].encode()))
    # What kubelets ask for is extended to a year, and says from when on it is stale.
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607
    extra = world.whoami(token=token)["extra"]
    assert extra["authentication.kubernetes.io/pod-name"] == ["p1"]
    assert extra["authentication.kubernetes.io/pod-uid"] == [uid]
    assert extra["authentication.kubernetes.io/node-name"] == ["n1"]
    for account, ref, code in (
        ("other", reference("Pod", "p1"), 400),
        ("robot", reference("Pod", "p1", "x"), 409),
    ):
        body = {"spec": {"boundObjectRef": ref}}
        assert world.server.call("POST", f"{ACCOUNTS}/{account}/token", body)[0] == code
    assert world.server.call("DELETE", f"{PODS}/p1", {"gracePeriodSeconds": 0})[0] == 200
    assert world.whoami(token=token) == 401


@pytest.mark.parametrize(
    ("kind", "path"), [("Secret", "/api/v1/namespaces/default/secrets"), ("Node", "/api/v1/nodes")]
)
def test_tokens_end_with_what_they_are_bound_to(world: World, kind: str, path: str) -> None:
    assert world.server.call("POST", path, {"metadata": {"name": "bound"}})[0] == 201
    token = world.token("robot", boundObjectRef=reference(kind, "bound"))
    assert world.whoami(token=token)["groups"] == ROBOTS
    assert world.server.call("DELETE", f"{path}/bound")[0] == 200
    assert world.whoami(token=token) == 401
    assert world.server.call("POST", path, {"metadata": {"name": "bound"}})[0] == 201
    assert world.whoami(token=token) == 401


def test_tokens_end_with_their_account(world: World) -> None:
    body = {"metadata": {"name": "short-lived"}}
    assert world.server.call("POST", ACCOUNTS, body)[0] == 201
    token = world.token("short-lived")
    assert world.whoami(token=token)["username"].endswith(":short-lived")
    assert world.server.call("DELETE", f"{ACCOUNTS}/short-lived")[0] == 200
    assert world.whoami(token=token) == 401
    assert world.server.call("POST", ACCOUNTS, body)[0] == 201
    assert world.whoami(token=token) == 401


def test_tokens_that_are_not_for_us(world: World, tmp_path: Path) -> None:
    token, now = world.token("robot"), int(time.time())
    assert world.whoami(token=world.forge(token))["groups"] == ROBOTS
    for changes in (
        {"exp": now - 100},
        {"nbf": now + 100},
        {"iat": now + 100},
        {"aud": ["vault"]},
        {"iss": "https://elsewhere.example"},
        {"kubernetes.io": {"namespace": "kube-system", "serviceaccount": {"name": "robot", "uid": "x"}}},
    ):
        assert world.whoami(token=world.forge(token, **changes)) == 401, changes
    header, body, signature = token.split(".")
    none = jose.encode(b'{"alg":"none"}')
    other = json.loads(jose.decode(body.encode()))
    other["kubernetes.io"]["serviceaccount"]["name"] = "other"
    for forged in (
        f"{none}.{body}.",
        f"{none}.{body}.{signature}",
        f"{header}.{jose.encode(json.dumps(other).encode())}.{signature}",
        f"{header}.{body}.",
        f"{header}.{body}",
        token[:-8],
        token + "AAAA",
    ):
        assert world.whoami(token=forged) == 401
    (tmp_path / "key").write_bytes(jose.new_private_key())
    foreign = jose.read_private_key(tmp_path / "key")
    assert world.whoami(token=jose.sign(foreign, json.loads(jose.decode(body.encode())))) == 401
    assert world.whoami(token=world.token("robot", audiences=["vault"])) == 401
