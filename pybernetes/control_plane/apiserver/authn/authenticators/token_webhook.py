"""Token webhook: another server, which a kubeconfig names, says whose token it is."""

from __future__ import annotations

import logging
from typing import Any

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    AuthenticatedToken,
    Authenticator,
    AuthenticatorInputs,
    InvalidCredentials,
    TokenAuthenticator,
    meant_for,
)
from pybernetes.control_plane.apiserver.authn.token_cache import TokenCache
from pybernetes.control_plane.apiserver.authn.user import authenticated
from pybernetes.control_plane.apiserver.review_webhooks import kubeconfig
from pybernetes.control_plane.apiserver.review_webhooks.reviewer import Reviewer, ReviewFailed, texts
from pybernetes.lib.flags import Flag, Seconds

log = logging.getLogger(__name__)
_VERSIONS = ("v1", "v1beta1")
_SECONDS = 10.0
FLAGS = (
    Flag("authentication-token-webhook-config-file", "", "kubeconfig of the server that knows bearer tokens"),
    Flag("authentication-token-webhook-version", "v1beta1", "version of the reviews that are sent to it"),
    Flag("authentication-token-webhook-cache-ttl", Seconds(120), "how long its answers are remembered"),
)


def tokens(inputs: AuthenticatorInputs) -> TokenAuthenticator | None:
    """Return what has a server look at tokens; ValueError if the flags make no sense."""
    arguments = inputs.arguments
    if not arguments.authentication_token_webhook_config_file:
        return None
    version = arguments.authentication_token_webhook_version
    if version not in _VERSIONS:
        raise ValueError(
            f'unsupported authentication webhook version "{version}", supported versions are "v1", "v1beta1"'
        )
    dialer = inputs.context.nodes.control_plane
    remote = kubeconfig.load(arguments.authentication_token_webhook_config_file, dialer)
    group = f"authentication.k8s.io/{version}"
    reviewer = Reviewer(remote, inputs.context.https, group, "TokenReview", _SECONDS)

    async def ask(token: bytes, audiences: Audiences) -> AuthenticatedToken | None:
        try:
            spec = {"token": token.decode(), "audiences": list(audiences)}
            return answer(await reviewer.ask(spec), audiences, inputs.audiences)
        except UnicodeDecodeError:
            return None
        except ReviewFailed as error:
            log.error("Failed to make webhook authenticator request: %s", error)
            raise InvalidCredentials(str(error)) from None

    return TokenCache(ask, arguments.authentication_token_webhook_cache_ttl).find


def answer(status: dict[str, Any], wanted: Audiences, own: Audiences) -> AuthenticatedToken | None:
    """Return whose token it is by the status of a review; None if nobody's, InvalidCredentials with what was said."""
    given = texts(status.get("audiences")) or own
    meant = meant_for(wanted, given)
    if wanted and not meant:
        return None
    if status.get("authenticated") is not True:
        if isinstance(problem := status.get("error"), str) and problem:
            raise InvalidCredentials(problem)
        return None
    user = status.get("user")
    extra = user.get("extra") or {} if isinstance(user, dict) else None
    names = (user.get("username") or "", user.get("uid") or "") if isinstance(user, dict) else ("",)
    if (
        not isinstance(user, dict)
        or not isinstance(extra, dict)
        or not names[0]
        or not all(isinstance(name, str) for name in names)
    ):
        raise ReviewFailed("the user of the answer makes no sense")
    more = {key: texts(values) for key, values in extra.items()}
    return AuthenticatedToken(authenticated(names[0], names[-1], texts(user.get("groups")), more), meant)


AUTHENTICATOR = Authenticator(order=70, flags=FLAGS, for_tokens=tokens)
