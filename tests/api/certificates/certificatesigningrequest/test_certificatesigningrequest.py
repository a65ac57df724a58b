"""CertificateSigningRequest: what is refused, who decides, what is printed."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from pybernetes.api import current_time, table
from pybernetes.api.certificates.certificatesigningrequest import certificatesigningrequest as csr
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from tests.api import kinds
from tests.api.certificates import pems

REQUEST = pems.encoded(pems.request())
SPEC = {"request": REQUEST, "usages": ["client auth"], "signerName": "a.b/c"}
FORM = "must be a fully qualified domain and path of the form 'example.com/signer-name'"


def make(spec: Object) -> Object:
    """Return a request whose name may be anything."""
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "X_y"},
        "spec": spec,
    }


def broken(kind: str) -> str:
    """Return a request with a wrong signature."""
    content = pems.broken(pems.request(kind, Encoding.DER))
    return pems.encoded(pems.pem("CERTIFICATE REQUEST", content).encode())


REFUSED: list[Any] = [
    (
        {"request": None, "usages": None, "signerName": None},
        [
            "spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST",
            "spec.usages: Required value",
            "spec.signerName: Required value",
        ],
    ),
    (
        {"request": "eA=="},
        ['spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST'],
    ),
    (
        {"request": broken("P256")},
        [f'spec.request: Invalid value: "{broken("P256")}": x509: ECDSA verification failure'],
    ),
    (
        {"request": broken("ed25519")},
        [f'spec.request: Invalid value: "{broken("ed25519")}": x509: Ed25519 verification failure'],
    ),
    ({"usages": ["any", "any"]}, ['spec.usages[1]: Duplicate value: "any"']),
    ({"expirationSeconds": 599}, [
        "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"
    ]),
    ({"signerName": "kubernetes.io/legacy-unknown"}, [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": '
        "the legacy signerName is not allowed via this API version"
    ]),
    ({"signerName": "a"}, [f'spec.signerName: Invalid value: "a": {FORM}']),
    ({"signerName": "a/b"}, [
        'spec.signerName: Invalid value: "a": should be a domain with at least two segments separated by dots'
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "errors"), REFUSED)
def test_refused(change: Any, errors: Any) -> None:
    spec = {key: value for key, value in {**SPEC, **change}.items() if value is not None}
    assert kinds.create_errors(make(spec)) == errors


def test_unknown_usage_names_the_known_ones() -> None:
    (text,) = kinds.create_errors(make({**SPEC, "usages": ["x"]}))
    assert text.startswith('spec.usages[0]: Unsupported value: "x": supported values: "any", "cert sign", ')


# Requests that are signed with SHA-1, as old clients do; libraries do not make them any more.
OLD = {
    "ECDSA": "MIHHMHACAQAwDjEMMAoGA1UEAwwDb2xkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDF1C2dRe1f3NvloXds1uPQ"
    "gwQYhA80cMK+sw3mToq4UD6TB/OIiPUOJzYbhYVV+5DufMxes1eoIJFwZhuyS3uqAAMAkGByqGSM49BAEDSAAwRQIh"
    "AJVMF/AYeUZwQMsr9ordc006D+gTyHIVl1dWopi6WwnsAiAstSVWFMCd7sSISJGkb3Kloj0n2w/t6cVdU1mVHo32og==",
    "RSA": "MIIBTTCBtwIBADAOMQwwCgYDVQQDDANvbGQwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBAMLGcUWbaXMPbMKZVT"
    "97oZFexpy86QqOUh9B/B0sdlOJ75Xpyv1nyvtqnF3wcGreTRs91PEzedgyTmPJEGVp8MOf/GeEKhHGihqGeCFED6YG"
    "jKIps+dLW9oSN9vOJlA3RW3U6HroQT2PISgZSc3kjZJ94R/vNgmKfrDlCEZAapEtAgMBAAGgADANBgkqhkiG9w0BAQ"
    "UFAAOBgQAQFUnzOIg3jm+0NdvYq5XzinXTJzsmwpT1/UunDxcv2Ls/1AvdIpEAGKt5jkb3we4fxRD0xNdX/gBk4S+3"
    "fdRi8mR/IIiEO2JVEqCXrWMtTvTNtVK75HMbHmXdHbMAlbns/4o7DvrqdRNsOe/1nh+2K7Y/moPhlOrIT3AJ52ocvw==",
}


@pytest.mark.parametrize("kind", OLD)
def test_old_signatures_are_looked_at(kind: str) -> None:
    content = base64.b64decode(OLD[kind])
    for der, problems in ((content, 0), (pems.broken(content), 1)):
        text = pems.pem("CERTIFICATE REQUEST", der)
        assert len(kinds.create_errors(make({**SPEC, "request": pems.encoded(text.encode())}))) == problems


def test_the_client_does_not_say_who_it_is() -> None:
    spec = {**SPEC, "username": "root", "uid": "1", "groups": ["system:masters"], "extra": {"a": ["b"]}}
    obj = kinds.created(make(spec))
    assert (obj["spec"], obj["status"]) == (SPEC, {})


def test_an_update_keeps_the_spec() -> None:
    assert kinds.update_errors(make(SPEC), {"spec.signerName": "other"}) == []


APPROVED = {"type": "Approved", "status": "True"}
TIMES = {"lastUpdateTime": kinds.CREATED, "lastTransitionTime": kinds.CREATED}
DENIED = {"type": "Denied", "status": "True"}
BOTH = (
    'status.conditions: Invalid value: "{conditions[{\\"type\\": \\"Approved\\"}], '
    'conditions[{\\"type\\": \\"Denied\\"}]}": must specify at most one of: '
    '`conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`'
)
STATUSES: list[Any] = [
    ({"conditions": [APPROVED]}, {}, [
        'status.conditions: Forbidden: updates may not add a condition of type "Approved"'
    ]),
    ({}, {"conditions": [APPROVED]}, [
        'status.conditions: Forbidden: updates may not remove a condition of type "Approved"'
    ]),
    ({"conditions": [{**APPROVED, "message": "changed"}]}, {"conditions": [{**APPROVED, **TIMES}]}, []),
    ({"conditions": [{"type": "Failed", "status": "False"}, {}]}, {}, [
        'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
        "status.conditions[1].type: Required value",
        "status.conditions[1].status: Required value",
    ]),
    ({"certificate": "eA=="}, {}, [
        'status.certificate: Invalid value: "<certificate data>": '
        "must contain at least one CERTIFICATE PEM block"
    ]),
    ({"certificate": pems.encoded(pems.certificate().encode())}, {}, []),
    ({"certificate": pems.encoded(pems.certificate().encode())}, {"certificate": "eA=="}, [
        "status.certificate: Forbidden: updates may not modify existing certificate content"
    ]),
    ({"certificate": pems.encoded(pems.pem("KEY", b"x").encode())}, {}, [
        'status.certificate: Invalid value: "<certificate data>": '
        'only CERTIFICATE PEM blocks are allowed, found "KEY"'
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("status", "before", "errors"), STATUSES)
def test_status(status: Any, before: Any, errors: Any) -> None:
    assert kinds.status_errors(make(SPEC), status, before) == errors


@pytest.mark.parametrize(("conditions", "errors"), [([APPROVED], []), ([APPROVED, DENIED], [BOTH])])
def test_approval(conditions: Any, errors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_time, "clock", lambda: table.epoch(kinds.CREATED))
    old = {**kinds.created(make(SPEC)), "status": {"certificate": "eA=="}}
    new = {**old, "spec": {}, "status": {"conditions": [dict(item) for item in conditions]}}
    reported = Errors()
    csr.prepare_approval(new, old)
    csr.validate_approval(new, old, reported)
    assert [str(error) for error in reported] == errors
    assert new["spec"] == old["spec"] and new["status"]["certificate"] == "eA=="
    first = new["status"]["conditions"][0]
    assert first["lastUpdateTime"] == first["lastTransitionTime"] == kinds.CREATED


ROWS: list[Any] = [
    ({}, {}, ["X_y", "90s", "<none>", "", "<none>", "Pending"]),
    ({**SPEC, "username": "me", "expirationSeconds": 86400}, {"conditions": [APPROVED], "certificate": "eA=="},
     ["X_y", "90s", "a.b/c", "me", "24h", "Approved,Issued"]),
    ({}, {"conditions": [DENIED, {"type": "Failed"}]}, ["X_y", "90s", "<none>", "", "<none>", "Denied,Failed"]),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "status", "row"), ROWS)
def test_row(spec: Any, status: Any, row: Any) -> None:
    assert kinds.cells({**make(spec), "status": status}) == row
