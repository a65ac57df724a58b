"""Bootstrap tokens: secrets in kube-system with which a node joins. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import math
import re

import orjson

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.lib.tokens import jose

TYPE = "bootstrap.kubernetes.io/token"
NAMESPACE = "kube-system"
SELECTION = {"namespace": NAMESPACE, "fields": f"type={TYPE}"}
_NAME = re.compile(r"bootstrap-token-([a-z0-9]{6})")


def value(secret: Object, key: str) -> str:
    """Return a value of a secret, decoded."""
    try:
        return base64.b64decode((secret.get("data") or {}).get(key, "")).decode()
    except (binascii.Error, ValueError):
        return ""


def seconds_left(secret: Object, now: float) -> float:
    """Return how long a token is valid: 0 if it is not, infinity if it does not expire."""
    text = value(secret, "expiration")
    if not text:
        return math.inf
    try:
        return max(0.0, rfc3339.parse(text) - now)
    except ValueError:
        return 0.0


def signing_token(secret: Object, now: float) -> tuple[str, str] | None:
    """Return the identifier and the secret of a token that may sign, or None."""
    match = _NAME.fullmatch(secret["metadata"]["name"])
    token_id, token = value(secret, "token-id"), value(secret, "token-secret")
    if match is None or token_id != match.group(1) or not token:
        return None
    if not seconds_left(secret, now) or value(secret, "usage-bootstrap-signing") != "true":
        return None
    return token_id, token


def detached_signature(content: str, token_id: str, token: str) -> str:
    """Return a detached signature of a text (RFC 7515, Appendix F)."""
    header = jose.encode(orjson.dumps({"alg": "HS256", "kid": token_id}))
    signed = f"{header}.{jose.encode(content.encode())}"
    signature = hmac.new(token.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{header}..{jose.encode(signature)}"
