"""A running server asked with every kind of credentials, good and bad, and by the real kubectl."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pybernetes.lib import jose, tls
from tests.servers import Server, running
from tests.support import require_program

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
TOKEN_REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
ISSUER = "https://kubernetes.default.svc.cluster.local"


class World:
    """A server, the authorities that it trusts, and one that it does not."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        names = ("clients", "proxies", "kubelets", "strangers")
        self.authorities = {name: tls.create_authority(name) for name in names}
        for name, pair in self.authorities.items():
            (directory / f"{name}.crt").write_bytes(pair.certificate)
        self.server: Server = None  # type: ignore[assignment]

    def certificate(self, authority: str, name: str, *groups: str) -> tuple[Path, Path]:
        pair = tls.issue(self.authorities[authority], name, organizations=groups, client=True)
        paths = self.directory / f"{name}-{authority}.crt", self.directory / f"{name}-{authority}.key"
        paths[0].write_bytes(pair.certificate)
        paths[1].write_bytes(pair.key)
        return paths

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *headers: tuple[str, str],
        certificate: tuple[Path, Path] | None = None,
        token: str = "",
    ) -> tuple[int, Any]:
        """One request with exactly these credentials; headers may repeat."""
        context = ssl.create_default_context(cafile=str(self.server.authority))
        if certificate is not None:
            context.load_cert_chain(*certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, context=context, timeout=30)
        try:
            connection.putrequest(method, path)
            data = json.dumps(body).encode() if body is not None else b""
            for name, value in (("Content-Length", str(len(data))), *headers):
                connection.putheader(name, value)
            if token:
                connection.putheader("Authorization", f"Bearer {token}")
            connection.endheaders(data)
            response = connection.getresponse()
            text = response.read()
            json_like = "json" in response.headers.get("Content-Type", "")
            return response.status, json.loads(text) if json_like and text else text.decode()
        finally:
            connection.close()

    def whoami(self, *headers: tuple[str, str], **credentials: Any) -> Any:
        """The user that the server sees, or the status if it is not let in."""
        status, answer = self.call("POST", REVIEW, {}, *headers, **credentials)
        return answer["status"]["userInfo"] if status == 201 else status

    def token(self, account: str, **spec: Any) -> str:
        status, made = self.server.call("POST", f"{ACCOUNTS}/{account}/token", {"spec": spec})
        assert status == 201, made
        return made["status"]["token"]

    def forge(self, token: str, **changes: Any) -> str:
        """A token with other claims, signed with the server's own key."""
        claims = json.loads(jose.decode(token.split(".")[1].encode()))
        return jose.sign(self.key, {**claims, **changes})

    @property
    def key(self) -> jose.SigningKey:
        return jose.read_private_key(self.server.directory / "certs" / "sa.key")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("authn")
    made = World(directory)
    kubelet = made.certificate("clients", "apiserver-kubelet-client", "system:masters")
    flags = (
        "--storage-backend=memory",
        f"--client-ca-file={directory / 'clients.crt'}",
        f"--requestheader-client-ca-file={directory / 'proxies.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--enable-bootstrap-token-auth",
        "--service-account-max-token-expiration=48h",
        f"--kubelet-certificate-authority={directory / 'kubelets.crt'}",
        *map(
            "=".join,
            zip(("--kubelet-client-certificate", "--kubelet-client-key"), map(str, kubelet), strict=True),
        ),
    )
    with running(directory, *flags) as server:
        made.server = server
        for name in ("robot", "other"):
            status, answer = server.call("POST", ACCOUNTS, {"metadata": {"name": name}})
            assert status == 201, answer
        yield made


KNOWN = "system:authenticated"
ROBOTS = ["system:serviceaccounts", "system:serviceaccounts:default", KNOWN]


def uid_of(world: World, account: str) -> str:
    return world.server.call("GET", f"{ACCOUNTS}/{account}")[1]["metadata"]["uid"]


# -- who is who -----------------------------------------------------------------------------------------------------


def test_certificates(world: World) -> None:
    found = world.whoami(certificate=world.certificate("clients", "bob", "devs"))
    credential = found.pop("extra")["authentication.kubernetes.io/credential-id"]
    assert credential[0].startswith("X509SHA256=")
    assert found == {"username": "bob", "groups": ["devs", KNOWN]}


def test_front_proxies(world: World) -> None:
    headers = (
        ("X-Remote-User", "eve"),
        ("X-Remote-Group", "a,b"),
        ("X-Remote-Group", "c"),
        ("X-Remote-Extra-K", "v"),
    )
    proxy = world.certificate("proxies", "front-proxy-client")
    found = world.whoami(*headers, certificate=proxy)
    assert found == {"username": "eve", "groups": ["a,b", "c", KNOWN], "extra": {"k": ["v"]}}
    # The same headers from anybody else mean nothing.
    assert world.whoami(*headers) == 403
    assert world.whoami(*headers, certificate=world.certificate("clients", "bob"))["username"] == "bob"
    assert world.whoami(*headers, certificate=world.certificate("proxies", "someone")) == 401
    as_client = world.certificate("clients", "front-proxy-client", "devs")
    assert world.whoami(*headers, certificate=as_client)["username"] == "front-proxy-client"


def test_the_proxies_authority_makes_no_users(world: World) -> None:
    evil = world.certificate("proxies", "evil", "system:masters")
    assert world.whoami(certificate=evil) == 401
    assert (
        world.whoami(certificate=world.certificate("proxies", "front-proxy-client", "system:masters")) == 401
    )
    # Another credential that is good still works.
    assert world.whoami(certificate=evil, token=world.token("robot"))["groups"] == ROBOTS


def test_certificates_of_strangers_do_not_even_connect(world: World) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
        world.whoami(certificate=world.certificate("strangers", "evil", "system:masters"))


def test_certificates_of_servers_are_not_for_clients(world: World) -> None:
    pair = tls.issue(world.authorities["clients"], "evil", organizations=["system:masters"], server=True)
    files = world.directory / "server.crt", world.directory / "server.key"
    files[0].write_bytes(pair.certificate)
    files[1].write_bytes(pair.key)
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
        world.whoami(certificate=files)


def test_nobody(world: World) -> None:
    assert world.whoami() == 403
    assert world.whoami(("Authorization", "Basic YWRtaW46YWRtaW4=")) == 403
    assert world.whoami(token="nope") == 401
    for path in ("/livez", "/readyz", "/healthz", "/version"):
        assert world.call("GET", path)[0] == 200, path
        assert world.call("GET", path, token="nope")[0] == 401, path
    for path in ("/api", "/apis", "/openapi/v2", "/metrics", "/.well-known/openid-configuration"):
        assert world.call("GET", path)[0] == 403, path


def test_bootstrap_tokens(world: World) -> None:
    data = {
        "token-id": "abcdef",
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
    }
    secret = {
        "metadata": {"name": "bootstrap-token-abcdef"},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {**data, "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token"},
    }
    assert world.whoami(token="abcdef.0123456789abcdef") == 401
    path = "/api/v1/namespaces/kube-system/secrets"
    assert world.server.call("POST", path, secret)[0] == 201
    groups = ["system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", KNOWN]
    expected = {"username": "system:bootstrap:abcdef", "groups": groups}
    assert world.whoami(token="abcdef.0123456789abcdef") == expected
    assert world.whoami(token="abcdef.0123456789abcdeg") == 401
    # Secrets of that name elsewhere are nothing special.
    secret["metadata"] = {"name": "bootstrap-token-aaaaaa"}
    secret["stringData"] = {**data, "token-id": "aaaaaa"}
    assert world.server.call("POST", "/api/v1/namespaces/default/secrets", secret)[0] == 201
    assert world.whoami(token="aaaaaa.0123456789abcdef") == 401
    assert world.server.call("DELETE", f"{path}/bootstrap-token-abcdef")[0] == 200
    assert world.whoami(token="abcdef.0123456789abcdef") == 401


# -- tokens of service accounts -------------------------------------------------------------------------------------


def test_a_token(world: World) -> None:
    token = world.token("robot")
    found = world.whoami(token=token)
    credential = found.pop("extra")["authentication.kubernetes.io/credential-id"]
    assert credential[0].startswith("JTI=")
    name = "system:serviceaccount:default:robot"
    assert found == {"username": name, "uid": uid_of(world, "robot"), "groups": ROBOTS}


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
    found = world.server.call("POST", f"{ACCOUNTS}/robot/token", body)
    expected = message.replace("{uid}", uid_of(world, "robot"))
    assert (found[0], found[1]["message"]) == (status, expected)


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


def test_others_can_check_our_tokens(world: World) -> None:
    """With nothing but what the server publishes."""
    token = world.token("robot", audiences=["vault"])
    reader = world.token("other")  # every service account may read these
    status, configuration = world.call("GET", "/.well-known/openid-configuration", token=reader)
    assert status == 200 and configuration["issuer"] == ISSUER
    assert configuration["jwks_uri"] == f"https://127.0.0.1:{world.server.port}/openid/v1/jwks"
    status, found = world.call("GET", "/openid/v1/jwks", token=reader)
    assert status == 200
    parsed = jose.parse(token.encode())
    (jwk,) = [each for each in found["keys"] if each["kid"] == parsed.header["kid"]]
    numbers = ec.EllipticCurvePublicNumbers(
        *(int.from_bytes(jose.decode(jwk[axis].encode()), "big") for axis in "xy"), ec.SECP256R1()
    )
    jose.verify(parsed, [jose.verifying_key(numbers.public_key())])
    assert parsed.claims["aud"] == ["vault"] and parsed.claims["iss"] == configuration["issuer"]


# -- reviews --------------------------------------------------------------------------------------------------------


def review(world: World, **spec: Any) -> Any:
    status, answer = world.server.call("POST", TOKEN_REVIEW, {"spec": spec})
    assert status == 201, answer
    return answer["status"]


def test_token_reviews(world: World) -> None:
    token = world.token("robot", audiences=["vault", ISSUER])
    found = review(world, token=token)
    assert found["authenticated"] and found["audiences"] == [ISSUER]
    assert (
        found["user"]["username"] == "system:serviceaccount:default:robot"
        and found["user"]["groups"] == ROBOTS
    )
    assert review(world, token=token, audiences=["vault", "x"])["audiences"] == ["vault"]
    problem = f'[invalid bearer token, token audiences ["vault" "{ISSUER}"] is invalid for the target audiences ["x"]]'
    assert review(world, token=token, audiences=["x"]) == {"user": {}, "error": problem}
    assert review(world, token="nope") == {"user": {}, "error": "invalid bearer token"}
    expired = world.forge(token, exp=int(time.time()) - 100)
    problem = "[invalid bearer token, service account token has expired]"
    assert review(world, token=expired) == {"user": {}, "error": problem}
    status, answer = world.server.call("POST", TOKEN_REVIEW, {"spec": {}})
    assert (status, answer["message"]) == (400, "token is required for TokenReview in authentication")


# -- who may not ----------------------------------------------------------------------------------------------------


def test_nobody_gets_further_than_allowed(world: World) -> None:
    token = world.token("robot")
    # Tokens of others, and whose token something is, are not for everyone to ask for.
    assert world.call("POST", f"{ACCOUNTS}/other/token", {}, token=token)[0] == 403
    assert world.call("POST", TOKEN_REVIEW, {"spec": {"token": token}}, token=token)[0] == 403
    for headers in (
        [("Impersonate-User", "admin")],
        [("Impersonate-User", "admin"), ("Impersonate-Group", "system:masters")],
        [("Impersonate-User", "system:serviceaccount:default:other")],
        [("Impersonate-User", "system:node:n1")],
        [("Impersonate-User", "system:serviceaccount:default:robot"), ("Impersonate-Extra-K", "v")],
    ):
        assert world.call("GET", PODS, None, *headers, token=token)[0] == 403, headers
    assert world.call("GET", "/version", None, ("Impersonate-Group", "system:masters"), token=token)[0] == 400


def test_administrators_impersonate(world: World) -> None:
    def as_(*headers: tuple[str, str]) -> Any:
        return world.whoami(*headers, token=TOKEN)

    from tests.servers import TOKEN

    assert as_(("Impersonate-User", "bob")) == {"username": "bob", "groups": [KNOWN]}
    headers = [("Impersonate-User", "bob"), ("Impersonate-Group", "a,b"), ("Impersonate-Group", "c")]
    assert as_(*headers)["groups"] == ["a,b", "c", KNOWN]
    assert as_(("Impersonate-User", "system:serviceaccount:default:x"))["groups"] == ROBOTS
    assert as_(("Impersonate-User", "system:node:n1"))["groups"] == ["system:nodes", KNOWN]
    assert as_(("Impersonate-User", "system:anonymous")) == 403


def request_pem(name: str) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def signing_request(name: str, **spec: Any) -> dict[str, Any]:
    base = {"request": request_pem(name), "signerName": "example.com/signer", "usages": ["client auth"]}
    return {"metadata": {"name": name}, "spec": {**base, **spec}}


def test_certificate_requests_say_who_asks(world: World) -> None:
    forged = {"username": "admin", "uid": "1", "groups": ["system:masters"], "extra": {"k": ["v"]}}
    status, made = world.call("POST", REQUESTS, signing_request("csr1", **forged), token=world.token("robot"))
    assert status == 403, made
    assert world.server.call(
        "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {"metadata": {"name": "robots-ask"}, "subjects": [{"kind": "Group", "name": "system:serviceaccounts",
         "apiGroup": "rbac.authorization.k8s.io"}], "roleRef": {"kind": "ClusterRole",
         "name": "system:node-bootstrapper", "apiGroup": "rbac.authorization.k8s.io"}},
    )[0] == 201  # fmt: skip
    status, made = world.call("POST", REQUESTS, signing_request("csr1", **forged), token=world.token("robot"))
    assert status == 201, made
    spec = made["spec"]
    assert spec["username"] == "system:serviceaccount:default:robot" and spec["groups"] == ROBOTS
    assert spec["uid"] == uid_of(world, "robot")
    assert list(spec["extra"]) == ["authentication.kubernetes.io/credential-id"]
    # Nor can it be changed later.
    made["spec"]["username"] = "admin"
    status, changed = world.server.call("PUT", f"{REQUESTS}/csr1", made)
    assert status == 200 and changed["spec"]["username"] == "system:serviceaccount:default:robot"


def test_no_credentials_in_the_log(world: World) -> None:
    token = world.token("robot")
    expired = world.forge(token, exp=1)
    for each in ("a-secret-word", expired, token[:-6] + "AAAAAA"):
        assert world.whoami(token=each) == 401
    text = (world.server.directory / "log").read_text()
    assert "unable to authenticate the request" in text
    for each in ("a-secret-word", expired, token, token.split(".")[2], "0123456789abcdef"):
        assert each not in text


# -- kubectl --------------------------------------------------------------------------------------------------------


def with_user(world: World, name: str, user: dict[str, Any]) -> None:
    config = yaml.safe_load(world.server.kubeconfig.read_text())
    config["users"] = [each for each in config["users"] if each["name"] != name] + [
        {"name": name, "user": user}
    ]
    config["contexts"] = [each for each in config["contexts"] if each["name"] != name]
    config["contexts"].append({"name": name, "context": {"cluster": "test", "user": name}})
    world.server.kubeconfig.write_text(yaml.safe_dump(config))


def test_kubectl(world: World, tmp_path: Path) -> None:
    require_program("kubectl")
    kubectl = world.server.kubectl
    certificate, key = world.certificate("clients", "carol", "system:masters")
    with_user(world, "certificate", {"client-certificate": str(certificate), "client-key": str(key)})
    with_user(world, "token", {"token": kubectl("create", "token", "robot", "--duration=1h").strip()})
    script = tmp_path / "credentials.py"
    version = "client.authentication.k8s.io/v1"
    script.write_text(
        "import json\n"
        f"token = {world.token('other')!r}\n"
        f"print(json.dumps({{'apiVersion': '{version}', 'kind': 'ExecCredential', 'status': {{'token': token}}}}))\n"
    )
    plugin = {
        "apiVersion": version,
        "command": sys.executable,
        "args": [str(script)],
        "interactiveMode": "Never",
    }
    with_user(world, "exec", {"exec": plugin})
    for context, name in (
        ("certificate", "carol"),
        ("token", "system:serviceaccount:default:robot"),
        ("exec", "system:serviceaccount:default:other"),
    ):
        assert name in kubectl("--context", context, "auth", "whoami"), context
        refused = kubectl("--context", context, "get", "secrets", "-A", fails=context != "certificate")
        assert (f'User "{name}" cannot list resource "secrets"' in refused) is (context != "certificate")
    shown = kubectl("auth", "whoami", "--as=bob", "--as-group=devs", "-o", "json")
    assert json.loads(shown)["status"]["userInfo"] == {"username": "bob", "groups": ["devs", KNOWN]}
    assert "system:serviceaccount:default:robot" in kubectl(
        "auth", "whoami", "--as=system:serviceaccount:default:robot"
    )
    bad = kubectl("--token=nonsense", "--user=", "get", "pods", fails=True)
    assert "Unauthorized" in bad or "must be logged in" in bad


def test_kubectl_approves_certificates(world: World) -> None:
    require_program("kubectl")
    kubectl = world.server.kubectl
    for name, verb, expected in (("csr-yes", "approve", "Approved"), ("csr-no", "deny", "Denied")):
        kubectl("create", "-f", "-", given=json.dumps(
            {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", **signing_request(name)}
        ))  # fmt: skip
        assert "Pending" in kubectl("get", "csr", name)
        kubectl("certificate", verb, name)
        shown = kubectl("get", "csr", name)
        assert expected in shown and "admin" in shown


# -- kubelets -------------------------------------------------------------------------------------------------------


class Kubelet(BaseHTTPRequestHandler):
    """Answers with the name of the client's certificate and the headers that it got."""

    def do_GET(self) -> None:
        subject = dict(part[0] for part in self.connection.getpeercert()["subject"])  # type: ignore[attr-defined]
        body = json.dumps(
            {"client": subject["commonName"], "headers": [*map(str.lower, self.headers)]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def kubelet(world: World, authority: str) -> Iterator[int]:
    pair = tls.issue(world.authorities[authority], "kubelet", names=["127.0.0.1"], server=True)
    certificate, key = world.directory / "kubelet.crt", world.directory / "kubelet.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    context = tls.server_context(certificate, key, client_ca=world.directory / "clients.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    server = ThreadingHTTPServer(("127.0.0.1", 0), Kubelet)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_kubelets_know_the_server_and_not_its_clients(world: World) -> None:
    from tests.servers import TOKEN

    for authority, name in (("kubelets", "k1"), ("strangers", "k2")):
        with kubelet(world, authority) as port:
            status = {
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
            }
            node = {"metadata": {"name": name}, "status": status}
            assert world.server.call("POST", "/api/v1/nodes", node)[0] == 201
            headers = (("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters"), ("Impersonate-User", "x"),
                       ("Impersonate-Group", "system:masters"), ("X-Other", "kept"))  # fmt: skip
            pod = {
                "metadata": {"name": name},
                "spec": {"nodeName": name, "containers": [{"name": "c", "image": "i"}]},
            }
            assert world.server.call("POST", "/api/v1/namespaces/default/pods", pod)[0] == 201
            log = f"/api/v1/namespaces/default/pods/{name}/log"
            code, answer = world.call("GET", log, None, *headers, token=TOKEN)
        if authority == "strangers":
            assert code == 503 and "certificate" in str(answer), answer
            continue
        assert code == 200 and answer["client"] == "apiserver-kubelet-client", answer
        assert "x-other" in answer["headers"]
        for private in (
            "authorization",
            "x-remote-user",
            "x-remote-group",
            "impersonate-user",
            "impersonate-group",
        ):
            assert private not in answer["headers"]


# -- certificates of the server itself ------------------------------------------------------------------------------


def test_new_certificates_without_a_restart(world: World) -> None:
    def serial() -> str:
        connection = world.server.connection()
        connection.connect()
        found = connection.sock.getpeercert()["serialNumber"]  # type: ignore[union-attr]
        connection.close()
        return found

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
    with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
        world.whoami(certificate=stranger)
