"""Who is who to a running server: certificates, front proxies, bootstrap tokens, and nobody."""

from __future__ import annotations

import json
import socket
import ssl
from datetime import datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.authn.credentials import (
    ACCOUNTS,
    KNOWN,
    REVIEW,
    ROBOTS,
    TOKEN_REVIEW,
    World,
)


def test_certificates(world: World) -> None:
    user = world.whoami(certificate=world.certificate("clients", "bob", "devs"))
    credential = user.pop("extra")["authentication.kubernetes.io/credential-id"]
    assert credential[0].startswith("X509SHA256=")
    assert user == {"username": "bob", "groups": ["devs", KNOWN]}


def test_front_proxies(world: World) -> None:
    headers = (
        ("X-Remote-User", "eve"),
        ("X-Remote-Group", "a,b"),
        ("X-Remote-Group", "c"),
        ("X-Remote-Extra-K", "v"),
    )
    proxy = world.certificate("proxies", "front-proxy-client")
    user = world.whoami(*headers, certificate=proxy)
    assert user == {"username": "eve", "groups": ["a,b", "c", KNOWN], "extra": {"k": ["v"]}}
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


def out_of_time(authority: tls.Pair, pair: tls.Pair, year: int) -> tls.Pair:
    """Return a certificate as it would be if it were for another year."""
    (certificate, _), (_, key) = tls.load(pair), tls.load(authority)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    builder = x509.CertificateBuilder(certificate.issuer, certificate.subject, certificate.public_key(), 1)
    builder = builder.not_valid_before(datetime(year, 1, 1)).not_valid_after(datetime(year, 12, 31))
    for extension in certificate.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    return tls.Pair(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM), pair.key)


@pytest.mark.parametrize("kind", ["of strangers", "its own", "for servers", "expired", "not yet valid"])
def test_certificates_that_are_not_good(world: World, kind: str) -> None:
    """They are as good as a wrong token: 401, also for what everybody may see, unless a token is good.

    CVE-2016-7075: what a certificate may be used for was not looked at.
    """
    clients = world.authorities["clients"]
    masters = ["system:masters"]
    good = tls.issue(clients, "evil", organizations=masters, client=True)
    pair = {
        "of strangers": tls.issue(world.authorities["strangers"], "evil", organizations=masters, client=True),
        "its own": world.authorities["strangers"],
        "for servers": tls.issue(clients, "evil", organizations=masters, server=True),
        "expired": out_of_time(clients, good, 2020),
        "not yet valid": out_of_time(clients, good, 2200),
    }[kind]
    files = world.directory / "bad.crt", world.directory / "bad.key"
    files[0].write_bytes(pair.certificate)
    files[1].write_bytes(pair.key)
    headers = (("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters"))
    assert world.whoami(*headers, certificate=files) == 401
    assert world.call("GET", "/healthz", certificate=files)[0] == 401
    assert world.whoami(*headers, certificate=files, token=world.token("robot"))["groups"] == ROBOTS


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
        assert world.call("GET", "/api/v1/namespaces/default/pods", None, *headers, token=token)[0] == 403, (
            headers
        )
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


def test_no_credentials_in_the_log(world: World) -> None:
    """CVE-2019-11250, CVE-2020-8565: bearer tokens were written to logs."""
    token = world.token("robot")
    expired = world.forge(token, exp=1)
    for credential in ("a-secret-word", expired, token[:-6] + "AAAAAA"):
        assert world.whoami(token=credential) == 401
    text = (world.server.directory / "log").read_text()
    assert "unable to authenticate the request" in text
    for credential in ("a-secret-word", expired, token, token.split(".")[2], "0123456789abcdef"):
        assert credential not in text


def test_trailers_of_a_front_proxy_are_no_headers(world: World) -> None:
    """A proxy passes on what a client sent behind its body; were it a header, anybody could name his own groups."""
    context = ssl.create_default_context(cafile=str(world.server.authority))
    context.load_cert_chain(*world.certificate("proxies", "front-proxy-client"))
    body = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).encode()
    with (
        socket.create_connection(("127.0.0.1", world.server.port), 30) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(
            b"POST %b HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Remote-User: eve\r\nX-Remote-Group: a\r\n"
            b"Content-Type: application/json\r\nTrailer: X-Remote-Group\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"%x\r\n%b\r\n0\r\nX-Remote-Group: system:masters\r\nX-Remote-User: admin\r\n\r\n"
            % (REVIEW.encode(), len(body), body)
        )
        text = b""
        while data := connection.recv(65536):
            text += data
    assert text.startswith(b"HTTP/1.1 201 ") and b"system:masters" not in text and b"admin" not in text
    assert b'"username":"eve"' in text


def test_endless_audit_ids_are_refused(world: World) -> None:
    status, answer = world.call("GET", "/version", None, ("Audit-ID", "a" * 257))
    assert (status, answer["message"]) == (400, "the Audit-ID is longer than 256 characters")
    assert world.call("GET", "/version", None, ("Audit-ID", "a" * 256))[0] == 200
