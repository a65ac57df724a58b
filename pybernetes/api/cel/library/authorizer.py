"""Questions to the authorizers: may a user do something? Who makes the authorizer supplies the answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pybernetes.api.cel.library.declare import Library
from pybernetes.api.cel.runtime import Failure
from pybernetes.api.validation import names

LIBRARY = Library()
_PACKAGE = "kubernetes.authorization."


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer."""

    allowed: bool
    reason: str = ""
    error: str = ""
    cel_name = _PACKAGE + "Decision"


# Answers a check with a verb.
Ask = Callable[["PathCheck | ResourceCheck", str], Decision]


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Whose permissions are asked for, and who answers."""

    user: Any
    ask: Ask
    # The user of a service account.
    account: Callable[[str, str], Any]
    cel_name = _PACKAGE + "Authorizer"


@dataclass(frozen=True, slots=True)
class PathCheck:
    """A path of the server."""

    authorizer: Authorizer
    path: str
    cel_name = _PACKAGE + "PathCheck"


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """A group of resources."""

    authorizer: Authorizer
    group: str
    cel_name = _PACKAGE + "GroupCheck"


@dataclass(frozen=True, slots=True)
class ResourceCheck:
    """A resource, and what more is known of it."""

    authorizer: Authorizer
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    fields: str = ""
    labels: str = ""
    cel_name = _PACKAGE + "ResourceCheck"


def _path(authorizer: Authorizer, path: str) -> PathCheck:
    if not path.strip():
        raise Failure("path must not be empty")
    return PathCheck(authorizer, path)


def _resource(check: GroupCheck, resource: str) -> ResourceCheck:
    if not resource.strip():
        raise Failure("resource must not be empty")
    return ResourceCheck(check.authorizer, check.group, resource)


def _account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    if names.dns_subdomain(name):
        raise Failure("Invalid service account name")
    if names.dns_label(namespace):
        raise Failure("Invalid service account namespace")
    return replace(authorizer, user=authorizer.account(namespace, name))


def _check(check: PathCheck | ResourceCheck, verb: str) -> Decision:
    return check.authorizer.ask(check, verb)


_A, _P, _G, _R, _D = (
    _PACKAGE + name for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
)
_method = LIBRARY.method
_method("path", "authorizer_path", f"{_A} string -> {_P}", _path)
_method("group", "authorizer_group", f"{_A} string -> {_G}", GroupCheck)
_method("serviceAccount", "authorizer_serviceaccount", f"{_A} string string -> {_A}", _account)
_method("resource", "groupcheck_resource", f"{_G} string -> {_R}", _resource)
_method(
    "subresource",
    "resourcecheck_subresource",
    f"{_R} string -> {_R}",
    lambda check, text: replace(check, subresource=text),
)
_method(
    "namespace",
    "resourcecheck_namespace",
    f"{_R} string -> {_R}",
    lambda check, text: replace(check, namespace=text),
)
_method("name", "resourcecheck_name", f"{_R} string -> {_R}", lambda check, text: replace(check, name=text))
_method(
    "fieldSelector",
    "authorizer_fieldselector",
    f"{_R} string -> {_R}",
    lambda check, text: replace(check, fields=text),
)
_method(
    "labelSelector",
    "authorizer_labelselector",
    f"{_R} string -> {_R}",
    lambda check, text: replace(check, labels=text),
)
_method("check", "pathcheck_check", f"{_P} string -> {_D}", _check)
_method("check", "resourcecheck_check", f"{_R} string -> {_D}", _check)
_method("errored", "decision_errored", f"{_D} -> bool", lambda decision: bool(decision.error))
_method("error", "decision_error", f"{_D} -> string", lambda decision: decision.error)
_method("allowed", "decision_allowed", f"{_D} -> bool", lambda decision: decision.allowed)
_method("reason", "decision_reason", f"{_D} -> string", lambda decision: decision.reason)
