"""ClusterTrustBundle: names that belong to signers, and certificates."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from tests.api import kinds
from tests.api.certificates import pems

ROOT = pems.certificate()
WRONG = 'spec.trustBundle: Invalid value: "<value omitted>": '


def make(name: str, spec: Object) -> Object:
    """Return a bundle."""
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "ClusterTrustBundle",
        "metadata": {"name": name},
        "spec": spec,
    }


CASES: list[Any] = [
    ("x", {"trustBundle": ROOT}, []),
    ("a.b:c:x", {"trustBundle": ROOT, "signerName": "a.b/c"}, []),
    ("x", {}, [WRONG + "at least one trust anchor must be provided"]),
    ("x", {"trustBundle": ROOT + ROOT}, [WRONG + "duplicate trust anchor (indices [0 1])"]),
    ("x", {"trustBundle": pems.certificate(None)}, [WRONG + "entry 0 does not have the CA bit set"]),
    ("x", {"trustBundle": ROOT + pems.pem("KEY", b"x")}, [WRONG + "entry 1 has bad block type: KEY"]),
    ("x", {"trustBundle": pems.pem("CERTIFICATE", b"x")}, [WRONG + "entry 0 does not parse as X.509"]),
    ("x", {"trustBundle": pems.pem("CERTIFICATE", b"x", "A: b\n\n")}, [WRONG + "entry 0 has PEM block headers"]),
    ("x", {"trustBundle": "a" * (1024 * 1024 + 1)}, [
        "spec.trustBundle: Too long: may not be more than 1048576 bytes"
    ]),
    ("a:b", {"trustBundle": ROOT}, [
        'metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name'
    ]),
    ("x", {"trustBundle": ROOT, "signerName": "a.b/c"}, [
        'metadata.name: Invalid value: "x": '
        "ClusterTrustBundle for signerName a.b/c must be named with prefix a.b:c:"
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spec", "errors"), CASES)
def test_create(name: Any, spec: Any, errors: Any) -> None:
    assert kinds.create_errors(make(name, spec)) == errors


def test_the_signer_stays() -> None:
    obj = make("a.b:c:x", {"trustBundle": ROOT, "signerName": "a.b/c"})
    errors = kinds.update_errors(obj, {"spec.signerName": "a.b/d"})
    assert 'spec.signerName: Invalid value: "a.b/d": field is immutable' in errors


def test_rows() -> None:
    assert kinds.cells(make("x", {"signerName": "a.b/c"})) == ["x", "a.b/c"]
    assert kinds.cells(make("x", {})) == ["x", "<none>"]
