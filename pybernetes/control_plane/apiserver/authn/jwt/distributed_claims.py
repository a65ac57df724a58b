"""Groups that are not in a token, because there are too many: it names a server that has them, in a token of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pybernetes.control_plane.apiserver.authn.jwt.key_set import Fetcher, KeySet, Unavailable
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings
from pybernetes.control_plane.apiserver.authn.jwt.user_of_claims import Unacceptable
from pybernetes.control_plane.apiserver.authn.jwt.verification import Unverified, verify
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.tokens import jose

_MOST_ISSUERS = 16  # whose keys are kept


class DistributedClaims:
    """Finds the claim that groups are in; for a mapping by an expression there is none."""

    def __init__(self, settings: JwtSettings, fetcher: Fetcher, clock: Callable[[], float]) -> None:
        self._settings, self._fetcher, self._clock = settings, fetcher, clock
        self._claim = settings.groups.claim
        self._keys: dict[str, KeySet] = {}  # of those who vouch for groups

    async def expand(self, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the claims of a genuine token, with the groups that are elsewhere; Unacceptable says why there are none."""
        if not self._claim or self._claim in claims or "_claim_names" not in claims:
            return claims
        try:
            source = _source(self._claim, claims)
            return claims if source is None else {**claims, self._claim: await self._resolve(*source)}
        except (Unacceptable, Unavailable, Unverified) as error:
            raise Unacceptable(f"oidc: could not expand distributed claims: {error}") from None

    async def _resolve(self, endpoint: str, token: str) -> Any:
        claim = self._claim
        if not endpoint.startswith("https://"):
            raise Unacceptable(f'while getting distributed claim "{claim}": {endpoint} is not an https URL')
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            reply = await self._fetcher.get(endpoint, {"Accept": "*/*", **headers})
        except Unavailable as error:
            raise Unavailable(f'while getting distributed claim "{claim}": {error}') from None
        if not 200 <= reply.status <= 226:
            text = f"error while getting distributed claim JWT: {reply.status}"
            raise Unavailable(f'while getting distributed claim "{claim}": {text}')
        raw = reply.body.strip()
        try:
            parsed = await off_loop.run(len(raw), jose.parse, raw)
        except jose.JoseError as error:
            raise Unacceptable(
                f'getting untrusted issuer from endpoint {endpoint} failed for claim "{claim}": {error}'
            ) from None
        try:
            await verify(parsed, self._keys_of(parsed.claims.get("iss")), self._settings, self._clock)
        except (Unverified, Unavailable) as error:
            raise Unverified(f"verify distributed claim token: {error}") from None
        if claim not in parsed.claims:
            raise Unacceptable(
                f'jwt returned by distributed claim endpoint "{endpoint}" did not contain claim: {claim}'
            )
        return parsed.claims[claim]

    def _keys_of(self, issuer: Any) -> KeySet:
        """Return the keys of who signed the groups: whoever it is, a token that we believe led there."""
        if not isinstance(issuer, str) or not issuer.startswith("https://"):
            raise Unverified(f"verifying untrusted issuer {issuer} failed: it is no https URL")
        keys = self._keys.get(issuer)
        if keys is None:
            if len(self._keys) >= _MOST_ISSUERS:
                del self._keys[next(iter(self._keys))]
            keys = self._keys[issuer] = KeySet(
                replace(self._settings, url=issuer, discovery_url=""), self._fetcher
            )
        return keys


def _source(claim: str, claims: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the server that has a claim, and the token that it wants; None if there is none."""
    names = claims["_claim_names"]
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise Unacceptable("oidc: error parsing distributed claim names: they are not texts by name")
    if "_claim_sources" not in claims:
        raise Unacceptable("oidc: no claim sources")
    sources = claims["_claim_sources"]
    if not isinstance(sources, dict) or not all(isinstance(source, dict) for source in sources.values()):
        raise Unacceptable("oidc: could not parse claim sources: they are not objects by name")
    if claim not in names:
        return None
    source = sources.get(names[claim])
    if source is None:
        raise Unacceptable(
            f"id token _claim_names contained a source {names[claim]} missing in _claims_sources"
        )
    endpoint, token = source.get("endpoint", ""), source.get("access_token", "")
    if not isinstance(endpoint, str) or not isinstance(token, str) or not token.isprintable():
        raise Unacceptable("oidc: could not parse claim sources: endpoint and access_token are texts")
    return (endpoint, token) if endpoint else None  # an aggregated claim, which is not for us
