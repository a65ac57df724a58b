"""The identity behind a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.validation.names import dns_label, dns_subdomain

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
SERVICE_ACCOUNTS = "system:serviceaccounts"
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
_SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class User:
    """A user or service account, with its groups."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def info(self) -> dict[str, Any]:
        """Return the user as reviews and certificate requests show it; what is empty is left out."""
        shown: dict[str, Any] = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in self.extra.items()},
        }
        return {key: value for key, value in shown.items() if value}


ANONYMOUS = User("system:anonymous", groups=(UNAUTHENTICATED,))


def authenticated(
    name: str,
    uid: str = "",
    groups: Iterable[str] = (),
    extra: Mapping[str, Iterable[str]] | None = None,
) -> User:
    """Return a user with proven identity: in the group of all such users, unless the groups say otherwise."""
    groups = tuple(groups)
    if name != ANONYMOUS.name and AUTHENTICATED not in groups and UNAUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return User(name, uid, groups, {key: tuple(values) for key, values in (extra or {}).items()})


def service_account_name(namespace: str, name: str) -> str:
    """Return the user name of a service account."""
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def service_account_groups(namespace: str) -> tuple[str, str]:
    """Return the groups of every service account of a namespace."""
    return SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"


def split_service_account(name: str) -> tuple[str, str] | None:
    """Return the namespace and name of a service account, or None if a user name is not that of one."""
    if not name.startswith(_SERVICE_ACCOUNT):
        return None
    namespace, separator, account = name[len(_SERVICE_ACCOUNT) :].partition(":")
    if not separator or dns_label(namespace) or dns_subdomain(account):
        return None
    return namespace, account
