"""Tokens of an OpenID provider that a kubeconfig names as ``auth-provider``: made anew when they have expired.

This is how users were described before there were programs for it; of the providers of that time ``oidc`` is left.
"""

from __future__ import annotations

import base64
import json
import time

from pybernetes.lib.tokens.token_claims import token_claims
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Settings = dict[str, str]
    Store = Callable[[Settings], None]

_EARLY_SECONDS = 10  # that a token counts as expired before it is: clocks differ
_SECONDS = 30  # that a provider has to answer
_LARGEST = 1 << 20  # bytes of an answer
_REMOVED = {
    "azure": 'The azure auth plugin has been removed.\nPlease use the https://github.com/Azure/kubelogin kubectl/client-go '
    "credential plugin instead.\nSee https://kubernetes.io/docs/reference/access-authn-authz/authentication/"
    "#client-go-credential-plugins for further details",
    "gcp": 'The gcp auth plugin has been removed.\nPlease use the "gke-gcloud-auth-plugin" kubectl/client-go credential '
    "plugin instead.\nSee https://cloud.google.com/blog/products/containers-kubernetes/kubectl-auth-changes-in-gke for "
    "further details",
}  # fmt: skip


def check(provider: Any) -> Settings:
    """Return the settings of a provider; refuse one that is none, or lacks something."""
    if not isinstance(provider, dict):
        raise CommandError("auth-provider is no map")
    name, settings = provider.get("name") or "", provider.get("config") or {}
    if name in _REMOVED:
        raise CommandError(_REMOVED[name])
    if name != "oidc":
        raise CommandError(f"no Auth Provider found for name {quoted(str(name))}")
    if not isinstance(settings, dict) or not all(isinstance(value, str) for value in settings.values()):
        raise CommandError("config of auth-provider has something else than texts")
    for key in ("idp-issuer-url", "client-id"):
        if not settings.get(key):
            raise CommandError(f"Must provide {key}")
    return settings


def token(settings: Settings, store: Store) -> str:
    """Return a token that has not expired; a new one is stored for the next command."""
    current = settings.get("id-token") or ""
    if current and expires(current) > time.time() + _EARLY_SECONDS:
        return current
    refresh = settings.get("refresh-token") or ""
    if not refresh:
        raise NoConnection("No valid id-token, and cannot refresh without refresh-token")
    answer = _refreshed(settings, refresh)
    new = answer.get("id_token")
    if not isinstance(new, str):
        raise NoConnection(
            'token response did not contain an id_token, either the scope "openid" wasn\'t requested upon login, or the '
            "provider doesn't support id_tokens as part of the refresh response"
        )
    another = answer.get("refresh_token")
    refresh = another if another and isinstance(another, str) else refresh
    try:
        store({**settings, "id-token": new, "refresh-token": refresh})
    except CommandError as error:
        raise NoConnection(f"could not persist new tokens: {error.message}") from None
    return new


def expires(text: str) -> float:
    """Return when a token expires; NoConnection if it is none."""
    if text.count(".") != 2:
        raise NoConnection("ID Token is not a valid JWT")
    try:
        return float(token_claims(text)["exp"])
    except KeyError:
        return 0.0
    except (ValueError, TypeError, OverflowError) as error:
        raise NoConnection(f"parsing claims: {error}") from None


def _refreshed(settings: Settings, refresh: str) -> dict[str, Any]:
    """Return what the provider answers to a refresh token; how it wants to know the client is tried out."""
    from urllib.parse import quote_plus, urlencode

    issuer = settings["idp-issuer-url"].removesuffix("/")
    address = f"{issuer}/.well-known/openid-configuration"
    metadata = _answer(address, settings, "oidc: failed to query metadata endpoint")
    endpoint = metadata.get("token_endpoint")
    if not endpoint or not isinstance(endpoint, str):
        raise NoConnection("oidc: discovery object doesn't contain a token_endpoint")
    if not endpoint.startswith("https://") and not (
        issuer.startswith("http://") and endpoint.startswith("http://")
    ):
        raise NoConnection(f"oidc: secrets are not sent to {quoted(endpoint)}")
    names = settings["client-id"], settings.get("client-secret") or ""
    pair = ":".join(quote_plus(name) for name in names)
    form = {"grant_type": "refresh_token", "refresh_token": refresh}
    failed = "failed to refresh token: oauth2: cannot fetch token:"
    try:
        basic = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return _answer(endpoint, settings, failed, urlencode(form).encode(), {"Authorization": basic})
    except _Refused:
        more = {"client_id": names[0]} | ({"client_secret": names[1]} if names[1] else {})
        return _answer(endpoint, settings, failed, urlencode({**form, **more}).encode())


class _Refused(NoConnection):
    """The provider has answered, but not with what was asked for."""


def _answer(
    address: str,
    settings: Settings,
    failed: str,
    form: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Return the JSON object that an address answers with."""
    import urllib.error
    import urllib.request

    class Stay(urllib.request.HTTPRedirectHandler):
        """Secrets go where they were to go, and nowhere else."""

        def redirect_request(self, req: Any, *rest: Any) -> Any:
            return super().redirect_request(req, *rest) if req.data is None else None

    if not address.startswith(("https://", "http://")):
        raise NoConnection(f"Get {quoted(address)}: unsupported protocol scheme")
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=_trust(settings)), Stay())
    try:
        with opener.open(urllib.request.Request(address, form, headers or {}), timeout=_SECONDS) as response:
            raw = response.read(_LARGEST + 1)
    except urllib.error.HTTPError as error:
        text = error.read(81).decode("utf-8", "replace")
        raise _Refused(f"{failed} {error.code} {error.reason}: {quoted(text[:80])}") from None
    except (OSError, ValueError) as error:
        raise NoConnection(f"Get {quoted(address)}: {getattr(error, 'reason', error)}") from None
    try:
        value = json.loads(raw) if len(raw) <= _LARGEST else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NoConnection(f"oidc: {address} answers with something else than a JSON object")
    return value


def _trust(settings: Settings) -> Any:
    import ssl

    data = settings.get("idp-certificate-authority-data") or ""
    try:
        text = base64.b64decode(data).decode("ascii") if data else None
        return ssl.create_default_context(
            cafile=settings.get("idp-certificate-authority") or None, cadata=text
        )
    except (ValueError, OSError) as error:
        raise NoConnection(f"unable to load root certificates: {error}") from None
