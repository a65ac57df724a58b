"""A local cluster as a user has it: up, used with the real kubectl, down, up again, deleted."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support import require_program
from tests.tools.local.user import User

NAME = f"trial-{os.getpid()}"


def _make_it_roots(folder: Path) -> None:
    """Make the folder one of an earlier version, whose control plane was root's."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, os.geteuid(), os.getegid())
    folder.chmod(0o700)
    saved = json.loads((folder / "cluster.json").read_text())
    del saved["user"]
    (folder / "cluster.json").write_text(json.dumps(saved))


def _check_rights(folder: Path) -> None:
    """Check that the control plane is nobody's process that could do harm."""
    pid = json.loads((folder / "programs.json").read_text())["control-plane"]["pid"]
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    assert status["NoNewPrivs"] == ["1"]
    if os.geteuid() == 0:
        assert "0" not in status["Uid"] + status["Gid"] and status.get("Groups") == []
        assert int(status["CapEff"][0], 16) in (0, 1 << 2)  # the second where Python lies in root's home


def _get_a_certificate(user: User, folder: Path) -> None:
    """Ask for a client certificate as the documents say, have it approved, and be known by it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "jane")])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    encoded = base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()
    signer = "kubernetes.io/kube-apiserver-client"
    document = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "jane"},
        "spec": {"request": encoded, "signerName": signer, "usages": ["client auth"]},
    }
    (folder / "csr.json").write_text(json.dumps(document))
    user.kubectl("apply", "-f", str(folder / "csr.json"))
    user.kubectl("certificate", "approve", "jane")
    user.until("Approved,Issued", "get", "csr", "jane")
    signed = user.kubectl("get", "csr", "jane", "-o", "jsonpath={.status.certificate}")
    (folder / "jane.crt").write_bytes(base64.b64decode(signed))
    form = serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    (folder / "jane.key").write_bytes(private)
    files = [f"--client-certificate={folder / 'jane.crt'}", f"--client-key={folder / 'jane.key'}"]
    user.kubectl("config", "set-credentials", "jane", *files)
    assert "jane" in user.kubectl("auth", "whoami", "--user=jane")


def test_a_cluster_from_up_to_delete(tmp_path: Path) -> None:
    require_program("kubectl")
    user = User(tmp_path)
    try:
        assert "is up at https://127." in user.pyb("up", NAME, "--hollow", "2")
        user.until("hollow-1", "get", "nodes")
        user.until("kube-scheduler-hollow-0", "get", "pods", "-n", "kube-system")
        user.kubectl("delete", "pod", "-n", "kube-system", "kube-scheduler-hollow-0", "--wait=false")
        user.until("kube-scheduler-hollow-0", "get", "pods", "-n", "kube-system")
        assert user.kubectl("config", "current-context").strip() == NAME
        _get_a_certificate(user, tmp_path)
        user.kubectl("create", "configmap", "kept")
        user.kubectl("create", "deployment", "web", "--image=example.com/web", "--replicas=5")
        assert "successfully rolled out" in user.kubectl(
            "rollout", "status", "deployment/web", "--timeout=60s"
        )
        user.pyb("up", NAME)
        assert NAME in user.pyb("list") and "ready" in user.pyb("status", NAME)
        assert "is stopped" in user.pyb("down", NAME)
        assert "stopped" in user.pyb("status", NAME, code=3)
        _make_it_roots(tmp_path / "state" / "clusters" / NAME)
        user.pyb("up", NAME)
        _check_rights(tmp_path / "state" / "clusters" / NAME)
        assert "kept" in user.kubectl("get", "configmaps")
        assert "control plane is serving" in user.pyb("logs", "--cluster", NAME)
    finally:
        user.pyb("delete", NAME)
    assert not list((tmp_path / "state" / "clusters").iterdir())
    assert NAME not in (tmp_path / "kubeconfig").read_text()
    assert "there is no cluster named" in user.pyb("status", NAME, code=1)
    assert "is no name for a cluster" in user.pyb("up", "No_Name", code=1)
