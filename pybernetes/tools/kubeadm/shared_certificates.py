"""The authorities of a cluster in a Secret that only the owner of a key can read, for two hours."""

from __future__ import annotations

import base64
import datetime
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.refs import ROLE_BINDINGS, ROLES, SECRETS
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.kubeadm import rbac, tokens
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import BOOTSTRAPPERS, CERTS_SECRET, NAMESPACE
from pybernetes.tools.kubeadm.objects import Objects

_NONCE = 12
_TTL = "2h0m0s"


def new_key() -> str:
    """Return a new key, in hexadecimal digits."""
    return secrets.token_hex(32)


def files(cluster: Object, folder: Path) -> dict[str, Path]:
    """Return the files that all control planes share, by their names in the Secret."""
    names = ["ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.pub", "sa.key"]
    external = cluster["etcd"].get("external")
    if external is None:
        names += ["etcd/ca.crt", "etcd/ca.key"]
        return {name.replace("/", "-"): folder / name for name in names}
    shared = {name: folder / name for name in names}
    for name, field in (("ca.crt", "caFile"), (".crt", "certFile"), (".key", "keyFile")):
        if external.get(field):
            shared[f"external-etcd{'-' if name == 'ca.crt' else ''}{name}"] = Path(external[field])
    return shared


def encrypt(data: bytes, key: bytes) -> bytes:
    """Return data that only the owner of the key can read."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, data, None)


def decrypt(data: bytes, key: bytes) -> bytes:
    """Return what was encrypted; KubeadmError if it was with another key."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], None)
    except (InvalidTag, ValueError):
        raise KubeadmError(
            "error decoding secret data with provided key: cipher: message authentication failed"
        ) from None


async def upload(
    objects: Objects, cluster: Object, folder: Path, key: str, say: Callable[[str], None]
) -> None:
    """Write the Secret. A token owns it that expires, and takes it along."""
    say(f'[upload-certs] Storing the certificates in Secret "{CERTS_SECRET}" in the "{NAMESPACE}" Namespace')
    token = {
        "token": tokens.generate(),
        "description": "Proxy for managing TTL for the kubeadm-certs secret",
        "ttl": _TTL,
    }
    owner = await objects.ensure(SECRETS, tokens.secret(token, datetime.datetime.now(datetime.UTC)))
    secret = bytes.fromhex(key)
    data = {
        name: base64.b64encode(encrypt(path.read_bytes(), secret)).decode() if path.exists() else ""
        for name, path in files(cluster, folder).items()
    }
    reference = {
        "apiVersion": "v1", "kind": "Secret", "name": owner["metadata"]["name"], "uid": owner["metadata"].get("uid", ""),
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    metadata = {"name": CERTS_SECRET, "namespace": NAMESPACE, "ownerReferences": [reference]}
    await objects.ensure(SECRETS, {"metadata": metadata, "data": data})
    role = f"kubeadm:{CERTS_SECRET}"
    await objects.ensure(ROLES, rbac.read_one(role, NAMESPACE, "secrets", CERTS_SECRET))
    await objects.ensure(ROLE_BINDINGS, rbac.binding(role, NAMESPACE, rbac.group(BOOTSTRAPPERS)))


async def download(
    objects: Objects, cluster: Object, folder: Path, key: str, say: Callable[[str], None]
) -> None:
    """Write the files of the Secret; KubeadmError if it is gone or the key is another, and then no file."""
    say(
        f'[download-certs] Downloading the certificates in Secret "{CERTS_SECRET}" in the "{NAMESPACE}" Namespace'
    )
    uploaded = await objects.get(SECRETS, CERTS_SECRET, NAMESPACE)
    if uploaded is None:
        raise KubeadmError(
            f'error downloading the secret: Secret "{CERTS_SECRET}" was not found in the "{NAMESPACE}" Namespace. This Secret '
            "might have expired. Please, run `kubeadm init phase upload-certs --upload-certs` on a control plane to generate a "
            "new one"
        )
    data, secret = uploaded.get("data") or {}, bytes.fromhex(key)
    contents: dict[Path, bytes] = {}
    for name, path in files(cluster, folder).items():
        if name not in data:
            raise KubeadmError(
                f"the Secret does not include the required certificate or key - name: {name}, path: {path}"
            )
        if data[name]:
            contents[path] = decrypt(base64.b64decode(data[name]), secret)
    say(f'[download-certs] Saving the certificates to the folder: "{folder}"')
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        write_atomically(path, content, 0o644 if path.suffix == ".crt" else 0o600)
