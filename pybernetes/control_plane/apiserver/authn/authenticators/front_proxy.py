"""Front proxies: a proxy that proves itself by its certificate says in headers whom it speaks for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Authenticator,
    AuthenticatorInputs,
    InvalidCredentials,
    RequestAuthenticator,
)
from pybernetes.control_plane.apiserver.authn.client_certificate import NO_CERTIFICATE, client_certificate
from pybernetes.control_plane.apiserver.authn.extra_headers import extra
from pybernetes.control_plane.apiserver.authn.user import User, authenticated
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.flags import Flag
from pybernetes.lib.tls.serving_certificates import CABundle

log = logging.getLogger(__name__)
# What aggregated servers are used to; other names work for this server only.
_STANDARD = {"username": "X-Remote-User", "uid": "X-Remote-Uid", "group": "X-Remote-Group"}
USUAL = {
    "username_headers": ("X-Remote-User",),
    "uid_headers": ("X-Remote-Uid",),
    "group_headers": ("X-Remote-Group",),
    "extra_headers_prefix": ("X-Remote-Extra-",),
    "allowed_names": ("front-proxy-client",),
}


FLAGS = (
    Flag("requestheader-client-ca-file", "", "authorities of the proxies that may name users in headers"),
    Flag("requestheader-allowed-names", (), "common names of such proxies; any if empty"),
    Flag(
        "requestheader-username-headers", (), "headers that may name the user; the first that is set counts"
    ),
    Flag("requestheader-uid-headers", (), "headers that may hold the user's UID"),
    Flag("requestheader-group-headers", (), "headers that name groups"),
    Flag("requestheader-extra-headers-prefix", (), "prefixes of headers that hold more about the user"),
)


def requests(inputs: AuthenticatorInputs) -> RequestAuthenticator | None:
    """Return what knows proxies by the authority of their certificate and by its name."""
    arguments, bundle = inputs.arguments, inputs.proxies
    check(arguments)
    if bundle is None:
        return None
    given = {name: getattr(arguments, f"requestheader_{name}") for name in USUAL}
    overlap = inputs.clients is not None and bundle.fingerprints & inputs.clients.fingerprints
    if overlap and not given["allowed_names"]:
        raise ValueError(
            "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; "
            "--requestheader-allowed-names must be specified to ensure regular client certificates cannot set "
            "authenticating proxy headers for arbitrary users"
        )
    return authenticator(bundle, inputs.context.clock, **given)


def authenticator(
    bundle: CABundle,
    clock: Callable[[], float],
    *,
    username_headers: Iterable[str],
    uid_headers: Iterable[str],
    group_headers: Iterable[str],
    extra_headers_prefix: Iterable[str],
    allowed_names: Iterable[str],
) -> RequestAuthenticator:
    """Return what believes these headers of proxies with one of these names and a certificate of the bundle."""
    allowed = frozenset(allowed_names)
    names, uids = _lower(username_headers), _lower(uid_headers)
    groups, prefixes = _lower(group_headers), _lower(extra_headers_prefix)

    def authenticate(request: Request) -> User | None:
        peer = request.connection.peer
        if peer is NO_CERTIFICATE or (peer := client_certificate(request.connection)) is None:
            return None
        peer.check(bundle.fingerprints, clock())
        if allowed and peer.common_name not in allowed:
            raise InvalidCredentials(f"x509: subject with cn={peer.common_name} is not in the allowed list")
        name = _first(request, names)
        if not name:
            return None
        given = [value for header in groups for value in request.values(header) if value]
        more: dict[str, list[str]] = {}
        for prefix in prefixes:
            for key, values in extra(request, prefix).items():
                more.setdefault(key, []).extend(values)
        return authenticated(name, _first(request, uids), given, more)

    return authenticate


def check(arguments: Any) -> None:
    """Raise ValueError for a list with an empty name; warn of one that aggregated servers do not know."""
    for what in ("username", "uid", "group"):
        values = getattr(arguments, f"requestheader_{what}_headers")
        _no_blank(f"requestheader-{what}-headers", values)
        if values and _STANDARD[what].lower() not in (value.lower() for value in values):
            problem = f"--requestheader-{what}-headers is set without the standard {_STANDARD[what]} header"
            if what == "uid":
                raise ValueError(f"{problem}: API aggregation will not work")
            log.warning("%s: API aggregation will not work", problem)
    _no_blank("requestheader-extra-headers-prefix", arguments.requestheader_extra_headers_prefix)
    _no_blank("requestheader-allowed-names", arguments.requestheader_allowed_names)


def _no_blank(flag: str, values: list[str]) -> None:
    if not all(values):
        raise ValueError(f'empty value in "{flag}"')


def _lower(names: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(name.lower().encode() for name in names)


def _first(request: Request, headers: tuple[bytes, ...]) -> str:
    for header in headers:
        values = request.values(header)
        if values and values[0]:
            return values[0]
    return ""


AUTHENTICATOR = Authenticator(order=10, flags=FLAGS, for_requests=requests)
