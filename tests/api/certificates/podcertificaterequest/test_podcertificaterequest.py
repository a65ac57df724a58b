"""PodCertificateRequest: keys, lifetimes, and the one change of its status."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from pybernetes.api import current_time, table
from pybernetes.api.resource import Object
from tests.api import kinds
from tests.api.certificates import pems


def stub(kind: str) -> str:
    """Return a request in DER."""
    return pems.encoded(pems.request(kind, Encoding.DER))


SPEC = {
    "signerName": "a.b/c", "podName": "p", "podUID": "u", "serviceAccountName": "s", "serviceAccountUID": "su",
    "nodeName": "n", "nodeUID": "nu", "stubPKCS10Request": stub("P256"),
}  # fmt: skip


def make(**change: Any) -> Object:
    """Return a request that differs from a good one."""
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "PodCertificateRequest",
        "metadata": {"name": "x"},
        "spec": {key: value for key, value in {**SPEC, **change}.items() if value is not None},
    }


PATH = "spec.stubPKCS10Request: Invalid value: "
CASES: list[Any] = [
    ({}, []),
    ({"stubPKCS10Request": stub("ed25519")}, []),
    ({"stubPKCS10Request": None}, [
        "spec: Invalid value: "
        "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
    ]),
    ({"stubPKCS10Request": "eA=="}, [PATH + "must be a valid PKCS#10 CSR"]),
    ({"stubPKCS10Request": pems.encoded(pems.broken(pems.request("P256", Encoding.DER)))},
     [PATH + "invalid signature"]),
    ({"stubPKCS10Request": stub("RSA2048")}, [
        PATH + '"2048-bit modulus": RSA keys must have modulus size 3072 or 4096'
    ]),
    ({"stubPKCS10Request": stub("P224")}, [
        PATH + '"curve P-224": elliptic public keys must use curve P256, P384, or P521'
    ]),
    ({"maxExpirationSeconds": 60}, [
        "spec.maxExpirationSeconds: Invalid value: 60: must be in the range [3600, 7862400]"
    ]),
    ({"maxExpirationSeconds": 90000, "signerName": "kubernetes.io/x"}, [
        "spec.maxExpirationSeconds: Invalid value: 90000: must be in the range [3600, 86400]"
    ]),
    ({"podUID": None, "nodeUID": "a" * 129}, [
        'spec.podUID: Invalid value: "": must not be empty',
        "spec.nodeUID: Too long: may not be more than 128 bytes",
    ]),
    ({"unverifiedUserAnnotations": {"a": "b"}}, [
        'spec.unverifiedUserAnnotations: Invalid value: "a": '
        'must be a domain-prefixed key (such as "acme.io/foo")'
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("change", "errors"), CASES)
def test_create(change: Any, errors: Any) -> None:
    assert kinds.create_errors(make(**change)) == errors


def test_default() -> None:
    assert kinds.complete(make())["spec"]["maxExpirationSeconds"] == 86400


def test_the_spec_stays() -> None:
    (error,) = kinds.update_errors(make(), {"spec.podName": "other"})
    assert error.endswith("field is immutable")


def condition(kind: str, status: str = "True") -> dict[str, str]:
    """Return a condition in good form."""
    return {"type": kind, "status": status, "reason": "R", "lastTransitionTime": kinds.CREATED}


ISSUED = {
    "conditions": [condition("Issued")],
    "certificateChain": pems.certificate(),
    "notBefore": "2026-01-02T03:04:05Z",
    "notAfter": "2026-01-03T03:04:05Z",
    "beginRefreshAt": "2026-01-02T15:00:00Z",
}
STATUSES: list[Any] = [
    (ISSUED, {}, []),
    ({"conditions": [condition("Denied")]}, {}, []),
    ({"conditions": [condition("Other")]}, {}, [
        'status.conditions[0].type: Unsupported value: "Other": supported values: "Issued", "Denied", "Failed"'
    ]),
    ({"conditions": [condition("Issued"), condition("Failed", "False")]}, {}, [
        'status.conditions[1].type: Invalid value: "Failed": '
        'There may be at most one condition with type "Issued", "Denied", or "Failed"',
        'status.conditions[1].status: Unsupported value: "False": supported values: "True"',
    ]),
    ({"conditions": [condition("Denied")], "notBefore": kinds.CREATED}, {}, [
        "status: Invalid value: "
        "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
    ]),
    ({}, ISSUED, [
        "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"
    ]),
    ({"notBefore": kinds.CREATED}, {}, [
        'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
    ]),
    ({**ISSUED, "certificateChain": ""}, {}, [
        'status.certificateChain: Invalid value: "": '
        "issued certificate chain must contain at least one certificate"
    ]),
    ({**ISSUED, "beginRefreshAt": "2026-01-02T03:05:00Z"}, {}, [
        'status.beginRefreshAt: Invalid value: "2026-01-02T03:05:00Z": '
        "must be at least 10 minutes after status.notBefore"
    ]),
    ({**ISSUED, "notAfter": "2026-01-04T03:04:05Z"}, {}, [
        'status.notAfter: Invalid value: "2026-01-04T03:04:05Z": '
        "must be set to the NotAfter time encoded in the leaf certificate"
    ]),
    ({key: ISSUED[key] for key in ("conditions", "certificateChain")}, {}, [
        "status.notBefore: Required value: must be present and consistent with the issued certificate",
        "status.notAfter: Required value: must be present and consistent with the issued certificate",
        "status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("status", "before", "errors"), STATUSES)
def test_status(status: Any, before: Any, errors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_time, "clock", lambda: table.epoch(kinds.CREATED))
    assert kinds.status_errors(make(maxExpirationSeconds=86400), status, before) == errors


def test_a_certificate_for_another_key_is_refused() -> None:
    obj = make(stubPKCS10Request=stub("ed25519"))
    (error,) = kinds.status_errors(obj, ISSUED)
    assert error.endswith("leaf certificate was not issued to the requested public key")


def test_row() -> None:
    obj = make(unverifiedUserAnnotations={"a.b/c": "d"})
    assert kinds.cells(obj) == ["x", "p", "s", "n", "a.b/c", "Pending", "a.b/c=d"]
    obj["status"] = {"conditions": [condition("Denied")]}
    assert kinds.cells(obj)[5] == "Denied"
