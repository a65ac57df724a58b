"""Tokens that live in secrets of type kubernetes.io/service-account-token and never expire. Pure, like ``claims``."""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Mapping
from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.authenticator import InvalidCredentials
from pybernetes.control_plane.apiserver.authn.service_accounts.claims import Lookup
from pybernetes.control_plane.apiserver.authn.user import (
    User,
    authenticated,
    service_account_groups,
    service_account_name,
    split_service_account,
)

ISSUER = "kubernetes/serviceaccount"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
LAST_USED = "kubernetes.io/legacy-token-last-used"
GENERATED = (
    "Use tokens from the TokenRequest API or manually created secret-based tokens "
    "instead of auto-generated secret-based tokens."
)
_GONE = "Token has been invalidated"
_CLAIMS = (
    ("namespace", "namespace"),
    ("secret.name", "secretName"),
    ("service-account.name", "serviceAccountName"),
    ("service-account.uid", "serviceAccountUID"),
)


class MarkedInvalid(InvalidCredentials):
    """The token of a secret that was not used for long and then taken out of use."""


class LegacyClaims:
    """The claims of such a token."""

    __slots__ = ("account", "namespace", "secret", "uid")

    def __init__(self, claims: Mapping[str, Any]) -> None:
        """Take verified claims; InvalidCredentials if one is missing."""
        subject = claims.get("sub")
        if not subject:
            raise InvalidCredentials("sub claim is missing")
        values = []
        for key, name in _CLAIMS:
            value = claims.get(f"kubernetes.io/serviceaccount/{key}")
            if not value or not isinstance(value, str):
                raise InvalidCredentials(f"{name} claim is missing")
            values.append(value)
        self.namespace, self.secret, self.account, self.uid = values
        if not isinstance(subject, str) or split_service_account(subject) != (self.namespace, self.account):
            raise InvalidCredentials("sub claim is invalid")

    def objects(self) -> list[tuple[str, str, str]]:
        """Return the plural, namespace and name of every object that must be there for the token to hold."""
        return [("secrets", self.namespace, self.secret), ("serviceaccounts", self.namespace, self.account)]

    def user(self) -> User:
        """Return whose token it is, if it holds."""
        name = service_account_name(self.namespace, self.account)
        return authenticated(name, self.uid, service_account_groups(self.namespace))

    def judge(self, token: bytes, lookup: Lookup) -> tuple[str, ...]:
        """Return what the bearer should be told; InvalidCredentials says why the token does not hold."""
        secret = lookup("secrets", self.namespace, self.secret)
        if secret is None or secret["metadata"].get("deletionTimestamp"):
            raise InvalidCredentials(_GONE)
        stored = base64.b64decode(secret.get("data", {}).get("token", ""))
        if not hmac.compare_digest(stored, token):
            raise InvalidCredentials("Token does not match server's copy")
        account = lookup("serviceaccounts", self.namespace, self.account)
        if account is None:
            raise InvalidCredentials(errors.not_found("", "serviceaccounts", self.account).message)
        if account["metadata"].get("deletionTimestamp"):
            raise InvalidCredentials(f"ServiceAccount {self.namespace}/{self.account} has been deleted")
        uid = account["metadata"].get("uid", "")
        if uid != self.uid:
            raise InvalidCredentials(f"ServiceAccount UID ({uid}) does not match claim ({self.uid})")
        if (secret["metadata"].get("labels") or {}).get(INVALID_SINCE):
            raise MarkedInvalid(
                f"the token in secret {self.namespace}/{self.secret} for service account "
                f"{self.namespace}/{self.account} has been marked invalid. Use tokens from the TokenRequest API or "
                f"manually created secret-based tokens, or remove the '{INVALID_SINCE}' label from the secret to "
                "temporarily allow use of this token"
            )
        generated = any(reference.get("name") == self.secret for reference in account.get("secrets", ()))
        return (GENERATED,) if generated else ()


def use_to_note(secret: Object, now: float) -> str:
    """Return the date that a secret's label should get because its token is used now; empty if it is there."""
    today = time.strftime("%Y-%m-%d", time.gmtime(now))
    tomorrow = time.strftime("%Y-%m-%d", time.gmtime(now + 86400))
    noted = (secret["metadata"].get("labels") or {}).get(LAST_USED, "")
    return "" if noted in (today, tomorrow) else today
