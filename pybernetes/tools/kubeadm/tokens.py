"""Bootstrap tokens: their form, the Secrets that hold them, and how long they are good."""

from __future__ import annotations

import base64
import datetime
import re
import secrets

from pybernetes.api.resource import Object
from pybernetes.api.text import durations
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import NAMESPACE

TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})\Z")
TOKEN_ID = re.compile(r"[a-z0-9]{6}\Z")
USAGES = ("signing", "authentication")
TYPE = "bootstrap.kubernetes.io/token"
_GROUP = r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]"
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def generate() -> str:
    """Return a new token."""
    digits = "".join(secrets.choice(_LETTERS) for _ in range(22))
    return f"{digits[:6]}.{digits[6:]}"


def parts(token: str) -> tuple[str, str]:
    """Return identity and secret of a token; KubeadmError if it is none."""
    match = TOKEN.match(token)
    if match is None:
        raise KubeadmError(
            f'the bootstrap token "{token}" was not of the form "\\\\A([a-z0-9]{{6}})\\\\.([a-z0-9]{{16}})\\\\z"'
        )
    return match.group(1), match.group(2)


def problem_with_group(group: str) -> str:
    """Return why tokens cannot give this group; empty if they can."""
    if re.match(rf"{_GROUP}\Z", group):
        return ""
    return f'bootstrap group "{group}" is invalid (must match \\A{_GROUP}\\z)'


def secret_name(identity: str) -> str:
    """Return the name of the Secret of a token."""
    return f"bootstrap-token-{identity}"


def secret(token: Object, now: datetime.datetime) -> Object:
    """Return the Secret of a token of a configuration."""
    identity, password = parts(token["token"])
    data = {"token-id": identity, "token-secret": password}
    if token.get("description"):
        data["description"] = token["description"]
    expires = expiration(token, now)
    if expires:
        data["expiration"] = expires
    for usage in token.get("usages") or ():
        data[f"usage-bootstrap-{usage}"] = "true"
    if token.get("groups"):
        data["auth-extra-groups"] = ",".join(token["groups"])
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_name(identity), "namespace": NAMESPACE},
        "type": TYPE,
        "data": {name: base64.b64encode(value.encode()).decode() for name, value in data.items()},
    }


def expiration(token: Object, now: datetime.datetime) -> str:
    """Return when a token expires; empty if it never does."""
    if token.get("expires"):
        return str(token["expires"])
    seconds = durations.parse_duration(token.get("ttl") or "0")
    if seconds <= 0:
        return ""
    return (now + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def from_secret(secret: Object) -> Object:
    """Return the token of a Secret; KubeadmError if it holds none."""
    name = secret["metadata"]["name"]
    data = {
        key: base64.b64decode(value).decode(errors="replace")
        for key, value in (secret.get("data") or {}).items()
    }
    identity, password = data.get("token-id", ""), data.get("token-secret", "")
    if name != secret_name(identity):
        raise KubeadmError(
            f'bootstrap token name is not of the form "bootstrap-token-{{token-id}}". Actual: "{name}". Expected: '
            f'"{secret_name(identity)}"'
        )
    if not password:
        raise KubeadmError(f'bootstrap Token Secret has no token-secret data: "{name}"')
    prefix = "usage-bootstrap-"
    usages = sorted(
        key.removeprefix(prefix) for key, value in data.items() if key.startswith(prefix) and value == "true"
    )
    groups = data.get("auth-extra-groups", "")
    return {
        "token": f"{identity}.{password}",
        "description": data.get("description", ""),
        "expires": data.get("expiration", ""),
        "usages": usages,
        "groups": groups.split(",") if groups else [],
    }
