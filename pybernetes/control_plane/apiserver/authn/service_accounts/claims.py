"""What the token of a service account says, and whether that is still so. Pure: objects are looked up by whoever asks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.authenticator import Audiences, InvalidCredentials
from pybernetes.control_plane.apiserver.authn.user import (
    CREDENTIAL_ID,
    User,
    authenticated,
    service_account_groups,
    service_account_name,
)

# Clocks differ; and what is bound to an object holds this long after the object's deletion was due.
LEEWAY = 60.0
FOREVER = float("inf")
_PREFIX = "authentication.kubernetes.io/"
_GATE = "APIServerWebhookAuthenticationToken"
_GONE = "service account token has been invalidated"
# Gives an object by plural, namespace and name, or None if there is none.
Lookup = Callable[[str, str, str], Object | None]


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that a token names."""

    name: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Claims:
    """A token of today: bound to its account and perhaps to one more object."""

    audiences: Audiences
    account: Reference
    namespace: str = ""
    id: str = ""
    expires: float | None = None
    not_before: float | None = None
    issued: float | None = None
    pod: Reference | None = None
    secret: Reference | None = None
    node: Reference | None = None
    for_webhook: bool = False
    warn_after: float | None = None

    def objects(self) -> Iterator[tuple[str, str, str]]:
        """Return the plural, namespace and name of every object that must be there for the token to hold."""
        yield "serviceaccounts", self.namespace, self.account.name
        if self.secret is not None:
            yield "secrets", self.namespace, self.secret.name
        if self.pod is not None:
            yield "pods", self.namespace, self.pod.name
        elif self.node is not None:
            yield "nodes", "", self.node.name


def issue(
    account: Object,
    *,
    issuer: str,
    audiences: Sequence[str],
    now: float,
    seconds: int,
    warn_after: int = 0,
    bound: Mapping[str, Reference] | None = None,
) -> dict[str, Any]:
    """Return the claims of a new token; ``bound`` has the objects that it is bound to: pod, secret, node."""
    metadata = account["metadata"]
    private: dict[str, Any] = {
        "namespace": metadata["namespace"],
        "serviceaccount": _shown(_reference_to(account)),
    }
    for kind, reference in (bound or {}).items():
        private[kind] = _shown(reference)
    if warn_after:
        private["warnafter"] = int(now) + warn_after
    return {
        "aud": list(audiences),
        "exp": int(now) + seconds,
        "iat": int(now),
        "iss": issuer,
        "jti": str(uuid.uuid4()),
        "kubernetes.io": private,
        "nbf": int(now),
        "sub": service_account_name(metadata["namespace"], metadata["name"]),
    }


def _reference_to(obj: Object) -> Reference:
    return Reference(obj["metadata"]["name"], obj["metadata"].get("uid", ""))


def _shown(reference: Reference) -> dict[str, str]:
    shown = {"name": reference.name, "uid": reference.uid}
    return {key: value for key, value in shown.items() if value}


def read(claims: Mapping[str, Any]) -> Claims:
    """Return the claims of a token whose signature is good; InvalidCredentials if their types are wrong."""
    private = _typed(claims, "kubernetes.io", dict) or {}
    webhooks = ("validatingwebhookconfiguration", "mutatingwebhookconfiguration")
    return Claims(
        audiences=audiences_of(claims),
        account=_reference(private, "serviceaccount") or Reference(),
        namespace=_typed(private, "namespace", str) or "",
        id=_typed(claims, "jti", str) or "",
        expires=_moment(claims, "exp"),
        not_before=_moment(claims, "nbf"),
        issued=_moment(claims, "iat"),
        pod=_reference(private, "pod"),
        secret=_reference(private, "secret"),
        node=_reference(private, "node"),
        for_webhook=any(private.get(name) is not None for name in webhooks),
        warn_after=_moment(private, "warnafter"),
    )


def audiences_of(claims: Mapping[str, Any]) -> Audiences:
    """Return whom a token is for: one name or a list of them."""
    value = claims.get("aud")
    listed = [value] if isinstance(value, str) else value or []
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise InvalidCredentials("malformed claim: aud")
    return tuple(listed)


def _reference(private: Mapping[str, Any], key: str) -> Reference | None:
    value = _typed(private, key, dict)
    if value is None:
        return None
    return Reference(_typed(value, "name", str) or "", _typed(value, "uid", str) or "")


def _moment(claims: Mapping[str, Any], key: str) -> float | None:
    value = claims.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidCredentials("expected number value to unmarshal NumericDate")
    return float(value)


def _typed(claims: Mapping[str, Any], key: str, kind: type) -> Any:
    value = claims.get(key)
    if value is not None and not isinstance(value, kind):
        raise InvalidCredentials(f"malformed claim: {key}")
    return value


def judge(claims: Claims, lookup: Lookup, now: float) -> tuple[User, float]:
    """Return whose token it is, and until when that holds unless an object changes; InvalidCredentials says why not."""
    check_times(claims, now)
    if not claims.account.name:
        raise InvalidCredentials("resource name may not be empty")
    account = lookup("serviceaccounts", claims.namespace, claims.account.name)
    if account is None:
        raise InvalidCredentials(errors.not_found("", "serviceaccounts", claims.account.name).message)
    uid = account["metadata"].get("uid", "")
    if uid != claims.account.uid:
        raise InvalidCredentials(f"service account UID ({uid}) does not match claim ({claims.account.uid})")
    limits = [FOREVER if claims.expires is None else claims.expires + LEEWAY]
    deleted = f"service account {claims.namespace}/{claims.account.name} has been deleted"
    limits.append(_lives(account, now, deleted))
    bound = (
        ("secret", "secrets", claims.namespace, claims.secret),
        ("pod", "pods", claims.namespace, claims.pod),
        ("node", "nodes", "", claims.node if claims.pod is None else None),
    )
    for what, plural, namespace, reference in bound:
        if reference is not None:
            limits.append(_bound(what, lookup(plural, namespace, reference.name), reference, now))
    if claims.for_webhook:
        raise InvalidCredentials(f'feature gate "{_GATE}" is disabled, but token is webhook bound')
    return _user(claims), min(limits)


def check_times(claims: Claims, now: float) -> None:
    """Raise InvalidCredentials for a token that has expired or is of the future."""
    if claims.not_before is not None and now + LEEWAY < claims.not_before:
        raise InvalidCredentials("service account token is not valid yet")
    if claims.expires is not None and now - LEEWAY > claims.expires:
        raise InvalidCredentials("service account token has expired")
    if claims.issued is not None and now + LEEWAY < claims.issued:
        raise InvalidCredentials("service account token is issued in the future")


def _bound(what: str, obj: Object | None, reference: Reference, now: float) -> float:
    """Return until when a token may be bound to an object."""
    if obj is None:
        raise InvalidCredentials(_GONE)
    uid = obj["metadata"].get("uid", "")
    if uid != reference.uid:
        raise InvalidCredentials(
            f"{what} UID ({uid}) does not match service account {what} ref claim ({reference.uid})"
        )
    return _lives(obj, now, _GONE)


def _lives(obj: Object, now: float, problem: str) -> float:
    """Return until when an object counts as being there; InvalidCredentials with the problem if it no longer does."""
    deletion = obj["metadata"].get("deletionTimestamp")
    if not deletion:
        return FOREVER
    until = datetime.fromisoformat(deletion).timestamp() + LEEWAY
    if until < now:
        raise InvalidCredentials(problem)
    return until


def _user(claims: Claims) -> User:
    extra: dict[str, list[str]] = {}
    if claims.id:
        extra[CREDENTIAL_ID] = [f"JTI={claims.id}"]
    if claims.node is not None and claims.node.name:
        extra[f"{_PREFIX}node-name"] = [claims.node.name]
        if claims.node.uid:
            extra[f"{_PREFIX}node-uid"] = [claims.node.uid]
    if claims.pod is not None and claims.pod.name and claims.pod.uid:
        extra[f"{_PREFIX}pod-name"] = [claims.pod.name]
        extra[f"{_PREFIX}pod-uid"] = [claims.pod.uid]
    name = service_account_name(claims.namespace, claims.account.name)
    return authenticated(name, claims.account.uid, service_account_groups(claims.namespace), extra)
