"""Secrets that hold a token of a service account. Pure."""

from __future__ import annotations

import base64

from pybernetes.api.resource import Object
from pybernetes.lib.tokens import jose

TYPE = "kubernetes.io/service-account-token"
ACCOUNT_NAME, ACCOUNT_UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
SELECTION = {"fields": f"type={TYPE}"}


def account_of(secret: Object) -> tuple[str, str]:
    """Return the name and the uid of the account that a secret is for; the uid may be missing."""
    annotations = secret["metadata"].get("annotations") or {}
    return annotations.get(ACCOUNT_NAME, ""), annotations.get(ACCOUNT_UID, "")


def by_account(secret: Object) -> tuple[str, ...]:
    """Index secrets by the key of the account that they are for."""
    name, _ = account_of(secret)
    return (f"{secret['metadata']['namespace']}/{name}",) if name else ()


def belongs(secret: Object, account: Object | None) -> bool:
    """Return whether an account is the one that a secret is for."""
    if account is None:
        return False
    name, uid = account_of(secret)
    meta = account["metadata"]
    return meta["name"] == name and uid in ("", meta["uid"])


def filled(secret: Object, account: Object, certificates: str, key: jose.SigningKey) -> Object | None:
    """Return the secret with token, CA and namespace, or None if it has them already."""
    data = dict(secret.get("data") or {})
    meta, own = secret["metadata"], account["metadata"]
    if certificates:
        data["ca.crt"] = _encoded(certificates)
    if not data.get("namespace"):
        data["namespace"] = _encoded(meta["namespace"])
    if not data.get("token"):
        data["token"] = _encoded(jose.sign(key, claims(account, secret)))
    if data == secret.get("data"):
        return None
    annotations = {**(meta.get("annotations") or {}), ACCOUNT_NAME: own["name"], ACCOUNT_UID: own["uid"]}
    return {**secret, "data": data, "metadata": {**meta, "annotations": annotations}}


def claims(account: Object, secret: Object) -> dict[str, str]:
    """Return the claims of a token in a secret, which expires only with the secret."""
    own, meta = account["metadata"], secret["metadata"]
    prefix = "kubernetes.io/serviceaccount"
    return {
        "iss": "kubernetes/serviceaccount",
        "sub": f"system:serviceaccount:{own['namespace']}:{own['name']}",
        f"{prefix}/namespace": own["namespace"],
        f"{prefix}/service-account.name": own["name"],
        f"{prefix}/service-account.uid": own["uid"],
        f"{prefix}/secret.name": meta["name"],
    }


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
