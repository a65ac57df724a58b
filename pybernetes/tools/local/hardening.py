"""What ``pyb up --encrypt`` and ``--audit`` switch on in the API server: files that are made once, and the flags that name them."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

_ENCRYPTED = ["secrets"]
# Requests for what is secret are noted without what they are about; reading health and leases is noise.
_POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/metrics*", "/version"]},
        {"level": "None", "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]},
        {
            "level": "None",
            "verbs": ["get", "list", "watch"],
            "userGroups": ["system:nodes", "system:serviceaccounts:kube-system"],
        },
        {
            "level": "Metadata",
            "resources": [
                {"group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"]},
                {"group": "authentication.k8s.io", "resources": ["tokenreviews"]},
            ],
        },
        {"level": "Request", "verbs": ["create", "update", "patch", "delete", "deletecollection"]},
        {"level": "Metadata"},
    ],
}


def flags(cluster: Cluster, settings: Settings) -> list[str]:
    """Return the flags of the API server; what they name is made if it is not there."""
    return [*_encryption(cluster, settings), *_audit(cluster, settings)]


def audit_log(cluster: Cluster) -> Path:
    """Return the file that requests are noted in."""
    return cluster.data / "audit.log"


def _encryption(cluster: Cluster, settings: Settings) -> list[str]:
    """Encrypt with a key that is made once; a cluster that is to encrypt no longer still reads what it has encrypted."""
    path, key_file = (cluster.certificates / name for name in ("encryption.yaml", "encryption.key"))
    if not settings.encrypt and not key_file.exists():
        return []
    if not key_file.exists():
        _write(key_file, base64.b64encode(os.urandom(32)))
    box = {"secretbox": {"keys": [{"name": "key1", "secret": key_file.read_text().strip()}]}}
    identity: dict[str, Any] = {"identity": {}}
    providers = [box, identity] if settings.encrypt else [identity, box]
    _write_yaml(
        path,
        {
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "EncryptionConfiguration",
            "resources": [{"resources": _ENCRYPTED, "providers": providers}],
        },
    )
    return [f"--encryption-provider-config={path}"]


def _audit(cluster: Cluster, settings: Settings) -> list[str]:
    if not settings.audit:
        return []
    path = cluster.certificates / "audit-policy.yaml"
    _write_yaml(path, _POLICY)
    return [
        f"--audit-policy-file={path}",
        f"--audit-log-path={audit_log(cluster)}",
    ]


def _write_yaml(path: Path, document: dict[str, Any]) -> None:
    import yaml

    content = yaml.safe_dump(document, sort_keys=False).encode()
    if not path.exists() or path.read_bytes() != content:
        _write(path, content)


def _write(path: Path, content: bytes) -> None:
    from pybernetes.lib.tls import tls

    tls.write_atomically(path, content, 0o600)
