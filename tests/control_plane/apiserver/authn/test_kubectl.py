"""The real kubectl with every kind of credentials."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.control_plane.apiserver.authn.credentials import (
    KNOWN,
    ROBOTS,
    World,
    uid_of,
)
from tests.support import require_program


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


def with_user(world: World, name: str, user: dict[str, Any]) -> None:
    config = yaml.safe_load(world.server.kubeconfig.read_text())
    config["users"] = [entry for entry in config["users"] if entry["name"] != name] + [
        {"name": name, "user": user}
    ]
    config["contexts"] = [entry for entry in config["contexts"] if entry["name"] != name]
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
