"""Flags: those that people start Kubernetes with, and those that make no sense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.assembly import secure_serving
from pybernetes.control_plane.apiserver.authn.service_accounts.settings import settings
from pybernetes.control_plane.apiserver.proxy import kubelets
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import KeyPair
from pybernetes.lib.tokens import jose


def test_the_flags_of_a_kubeadm_cluster(tmp_path: Path) -> None:
    pem = jose.new_private_key()
    (tmp_path / "sa.key").write_bytes(pem)
    (tmp_path / "sa.pub").write_bytes(jose.public_pem(pem))
    client = tls.issue(tls.create_authority("ca"), "apiserver-kubelet-client", client=True)
    (tmp_path / "client.crt").write_bytes(client.certificate)
    (tmp_path / "client.key").write_bytes(client.key)
    (tmp_path / "ca.crt").write_bytes(tls.create_authority("ca").certificate)
    arguments = parser().parse_args(
        [
            "--advertise-address=192.0.2.1",
            "--authorization-mode=Node,RBAC",
            f"--client-ca-file={tmp_path}/ca.crt",
            "--enable-bootstrap-token-auth=true",
            f"--kubelet-certificate-authority={tmp_path}/ca.crt",
            f"--kubelet-client-certificate={tmp_path}/client.crt",
            f"--kubelet-client-key={tmp_path}/client.key",
            "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
            "--requestheader-allowed-names=front-proxy-client",
            f"--requestheader-client-ca-file={tmp_path}/ca.crt",
            "--requestheader-extra-headers-prefix=X-Extra-",
            "--requestheader-group-headers=X-Group",
            "--requestheader-username-headers=X-User",
            "--secure-port=6444",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={tmp_path}/sa.pub",
            "--service-account-max-token-expiration=48h",
            f"--service-account-signing-key-file={tmp_path}/sa.key",
            "--tls-cert-file=/etc/kubernetes/pki/apiserver.crt",
            "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "--tls-private-key-file=/etc/kubernetes/pki/apiserver.key",
            "--tls-min-version=VersionTLS12",
            "--anonymous-auth",
        ]
    )
    assert arguments.enable_bootstrap_token_auth is arguments.anonymous_auth is True
    assert arguments.requestheader_group_headers == ("X-Group",)
    accounts = settings(arguments)
    assert accounts.max_seconds == 48 * 3600 and accounts.audiences == accounts.issuers
    assert [key.id for key in accounts.keys] == [accounts.signer.public.id]
    assert kubelets.access(arguments).address_types == ("InternalIP", "ExternalIP", "Hostname")


def accounts(directory: Path, *flags: str) -> Any:
    return settings(parser().parse_args([f"--cert-dir={directory}", *flags]))


def test_without_flags_the_server_makes_a_key_and_keeps_it(tmp_path: Path) -> None:
    first = accounts(tmp_path)
    assert first.issuers == first.audiences == ("https://kubernetes.default.svc.cluster.local",)
    assert (tmp_path / "sa.key").stat().st_mode & 0o777 == 0o600
    assert jose.read_public_keys(tmp_path / "sa.pub")[0].id == first.signer.public.id
    assert accounts(tmp_path).signer.public.id == first.signer.public.id


def test_issuers_and_audiences(tmp_path: Path) -> None:
    configured = accounts(
        tmp_path, "--service-account-issuer=b", "--service-account-issuer=a,x", "--api-audiences=c,d"
    )
    assert configured.issuers == ("b", "a,x") and configured.audiences == ("c", "d")


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--service-account-issuer="], "should not be an empty string"),
        (["--service-account-issuer=a", "--service-account-issuer=a"], "more than once"),
        (["--service-account-jwks-uri=http://x"], "https"),
        (["--service-account-max-token-expiration=10m"], "between 1 hour and 2"),
        (["--service-account-key-file=/nowhere"], "needs --service-account-signing-key-file"),
    ],
)
def test_service_accounts_that_make_no_sense(tmp_path: Path, flags: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        accounts(tmp_path, *flags)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.crt,a.key", KeyPair(Path("a.crt"), Path("a.key"))),
        ("a.crt, a.key:*.x.com, x.com", KeyPair(Path("a.crt"), Path("a.key"), ("*.x.com", "x.com"))),
        ("a.crt", None),
        ("a.crt,a.key:", None),
        ("a,b,c", None),
    ],
)
def test_named_certificates(text: str, expected: KeyPair | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="--tls-sni-cert-key"):
            secure_serving.named_pair(text)
    else:
        assert secure_serving.named_pair(text) == expected


def test_halves_of_pairs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="go together"):
        secure_serving.certificates(parser().parse_args(["--tls-cert-file=x"]))
    with pytest.raises(ValueError, match="go together"):
        kubelets.access(parser().parse_args(["--kubelet-client-key=x"]))
