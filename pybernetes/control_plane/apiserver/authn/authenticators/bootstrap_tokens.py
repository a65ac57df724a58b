"""Bootstrap tokens: secrets in kube-system with which a new node asks for its first certificate."""

from __future__ import annotations

import base64
import hmac
import logging
import re
from datetime import datetime

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    AuthenticatedToken,
    Authenticator,
    AuthenticatorInputs,
    TokenAuthenticator,
    meant_for,
)
from pybernetes.control_plane.apiserver.authn.user import User, authenticated
from pybernetes.lib.flags import Flag

log = logging.getLogger(__name__)
_TOKEN = re.compile(rb"([a-z0-9]{6})\.([a-z0-9]{16})\Z")
_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]\Z")
_TYPE = "bootstrap.kubernetes.io/token"
_BOOTSTRAPPERS = "system:bootstrappers"


FLAGS = (
    Flag("enable-bootstrap-token-auth", False, f"accept tokens of secrets in kube-system of type {_TYPE}"),
)


def tokens(inputs: AuthenticatorInputs) -> TokenAuthenticator | None:
    """Return what knows the tokens of secrets named ``bootstrap-token-<id>``."""
    if not inputs.arguments.enable_bootstrap_token_auth:
        return None
    context = inputs.context
    secrets = context.kinds.find("", "secrets")

    def find(token: bytes, audiences: Audiences) -> AuthenticatedToken | None:
        match = _TOKEN.match(token)
        meant = meant_for(audiences, inputs.audiences)
        if match is None or not meant:
            return None
        name = f"bootstrap-token-{match.group(1).decode()}"
        record = context.store.get(secrets.key("kube-system", name))
        if record is None:
            return None
        user, problem = judge(secrets.object(record), match.group(1), match.group(2), context.clock())
        if user is None:
            log.info("the bootstrap secret %s that matches a bearer token %s", name, problem)
            return None
        return AuthenticatedToken(user, meant)

    return find


def judge(secret: Object, identity: bytes, password: bytes, now: float) -> tuple[User | None, str]:
    """Return the user of a token that a secret is about, or what is wrong with it."""
    data = {key: base64.b64decode(value) for key, value in secret.get("data", {}).items()}
    if secret["metadata"].get("deletionTimestamp"):
        return None, "is being deleted"
    if secret.get("type") != _TYPE:
        return None, f"is not of type {_TYPE}"
    if not hmac.compare_digest(data.get("token-secret", b""), password):
        return None, "has another token-secret"
    if data.get("token-id", b"") != identity:
        return None, "has another token-id"
    if _expired(data.get("expiration", b""), now):
        return None, "has expired"
    if data.get("usage-bootstrap-authentication", b"") != b"true":
        return None, "is not for authentication"
    groups = {_BOOTSTRAPPERS}
    listed = data.get("auth-extra-groups", b"").decode(errors="replace")
    for group in listed.split(",") if listed else ():
        if not _GROUP.match(group):
            return None, "names a group that is none of bootstrappers"
        groups.add(group)
    return authenticated(f"system:bootstrap:{identity.decode()}", groups=sorted(groups)), ""


def _expired(text: bytes, now: float) -> bool:
    """Return whether a time has come; one that cannot be read counts as past."""
    if not text:
        return False
    try:
        moment = datetime.fromisoformat(text.decode())
    except ValueError:
        return True
    return moment.tzinfo is None or moment.timestamp() <= now


AUTHENTICATOR = Authenticator(order=50, flags=FLAGS, for_tokens=tokens)
