"""Groups that a token only points at: where they come from, and whom nobody believes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.authn.authenticator import InvalidCredentials
from pybernetes.control_plane.apiserver.authn.jwt.jwt_authenticators import JwtAuthenticators
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings, Mapping
from pybernetes.lib.http.client import HttpClient
from tests.control_plane.apiserver.authn.jwt.openid_provider import OpenIdProvider, providing

FAILED = "oidc: could not expand distributed claims: "


def pointing(url: str, token: str = "let-me-in") -> dict[str, Any]:
    """Return the claims that say where the groups are."""
    source = {"endpoint": url, "access_token": token}
    return {"_claim_names": {"groups": "here"}, "_claim_sources": {"here": source}}


async def groups(issuer: OpenIdProvider, others: OpenIdProvider, claims: dict[str, Any]) -> tuple[str, ...]:
    """Return the groups of who has a token with these claims, without those that everybody has."""
    trusted = issuer.authority.read_text() + others.authority.read_text()
    settings = JwtSettings(issuer.url, ("kubernetes",), Mapping("sub"), Mapping("groups"), authority=trusted)
    https = HttpClient()
    try:
        authenticators = JwtAuthenticators(https, ("a",), time.time, [settings])
        known = authenticators.find(issuer.token(**claims).encode(), ("a",))
        assert known is not None
        answer = await known
        assert answer is not None
        return tuple(group for group in answer.user.groups if group != "system:authenticated")
    finally:
        https.close()


async def test_groups_of_another_server(tmp_path: Path) -> None:
    """Another issuer may vouch for them; what is in the token itself comes first."""
    directories = [tmp_path / name for name in ("a", "b")]
    for directory in directories:
        directory.mkdir()
    with providing(directories[0]) as issuer, providing(directories[1]) as others:
        issuer.texts["/groups"] = issuer.token(groups=["mine"])
        others.texts["/groups"] = others.token(groups=["theirs", "more"]) + "\n"
        assert await groups(issuer, others, pointing(f"{issuer.url}/groups")) == ("mine",)
        assert await groups(issuer, others, pointing(f"{others.url}/groups")) == ("theirs", "more")
        inline = {"groups": ["inline"], **pointing(f"{others.url}/groups")}
        assert await groups(issuer, others, inline) == ("inline",)
        aggregated = {"_claim_names": {"groups": "x"}, "_claim_sources": {"x": {"JWT": "a.b.c"}}}
        assert await groups(issuer, others, aggregated) == ()
        elsewhere = {"_claim_names": {"address": "x"}, "_claim_sources": {}}
        assert await groups(issuer, others, elsewhere) == ()


async def test_whom_nobody_believes(tmp_path: Path) -> None:
    with providing(tmp_path) as issuer:
        url = f"{issuer.url}/groups"
        good, before = issuer.token(groups=["x"]), issuer.key
        issuer.rotate("first")
        forged = issuer.token(groups=["system:masters"])
        issuer.key = before
        cases: list[tuple[str, dict[str, Any], str]] = [
            (forged, pointing(url), "verify distributed claim token: failed to verify signature"),
            (issuer.token(groups=["x"], aud="other"), pointing(url), "verify distributed claim token: oidc: expected audience"),
            (issuer.token(groups=["x"], exp=1), pointing(url), "verify distributed claim token: oidc: token is expired"),
            (issuer.token(groups=["x"], iss="http://plain"), pointing(url), "verifying untrusted issuer http://plain failed"),
            (issuer.token(), pointing(url), "did not contain claim: groups"),
            ("hello", pointing(url), "getting untrusted issuer from endpoint"),
            (good, pointing(url, "other"), "error while getting distributed claim JWT: 401"),
            (good, pointing(url, "a\r\nX: y"), "could not parse claim sources"),
            (good, pointing("http://127.0.0.1/groups"), "is not an https URL"),
            (good, pointing("https://127.0.0.1:1/groups"), 'while getting distributed claim "groups": Get "https://127.0.0.1:1/groups"'),
            (good, pointing("https://[/groups"), "while getting distributed claim"),
            (good, {"_claim_names": {"groups": "x"}}, "oidc: no claim sources"),
            (good, {"_claim_names": {"groups": "x"}, "_claim_sources": {}}, "id token _claim_names contained a source x missing in _claims_sources"),
            (good, {"_claim_names": ["groups"], "_claim_sources": {}}, "oidc: error parsing distributed claim names"),
            (good, {"_claim_names": {"groups": "x"}, "_claim_sources": [1]}, "oidc: could not parse claim sources"),
            (good, {"_claim_names": {"groups": "x"}, "_claim_sources": {"x": {"endpoint": 1}}}, "oidc: could not parse claim sources"),
        ]  # fmt: skip
        for text, claims, problem in cases:
            issuer.texts["/groups"] = text
            with pytest.raises(InvalidCredentials) as failure:
                await groups(issuer, issuer, claims)
            assert str(failure.value).startswith(FAILED) and problem in str(failure.value), problem
