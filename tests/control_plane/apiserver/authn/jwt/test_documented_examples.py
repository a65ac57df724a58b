"""The examples of the official page on authenticating: files that are read, tokens that are believed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.control_plane.apiserver.authn.jwt import configuration
from pybernetes.control_plane.apiserver.authn.jwt.user_of_claims import Unacceptable, user_of

MAPPINGS: dict[str, Any] = {
    "username": {"expression": 'claims.username + ":external-user"'},
    "groups": {"expression": 'claims.roles.split(",")'},
    "uid": {"expression": "claims.sub"},
    "extra": [{"key": "example.com/tenant", "valueExpression": "claims.tenant"}],
}
HD = {"expression": 'claims.hd == "example.com"', "message": "the hd claim must be set to example.com"}
LIFETIME = {
    "expression": "claims.exp - claims.nbf <= 86400",
    "message": "total token lifetime must not exceed 24 hours",
}
NO_SYSTEM_USER = {
    "expression": "!user.username.startsWith('system:')",
    "message": "username cannot used reserved system: prefix",
}
NO_SYSTEM_GROUP = {
    "expression": "user.groups.all(group, !group.startsWith('system:'))",
    "message": "groups cannot used reserved system: prefix",
}
VERIFIED = {"expression": "claims.?email_verified.orValue(true) == true"}
TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db4a"
CLAIMS = {
    "aud": "kubernetes", "exp": 1703232949, "iat": 1701107233, "iss": "https://example.com", "nbf": 1701107233,
    "roles": "user,admin", "sub": "auth", "tenant": TENANT, "username": "foo",
}  # fmt: skip
DAY = {"exp": 86400, "nbf": 0}


def load(directory: Path, **document: Any) -> configuration.AuthenticationSettings:
    """Return what a file with this content says."""
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
    path = directory / "authentication.yaml"
    path.write_text(yaml.safe_dump({**head, **document}))
    return configuration.load(str(path), ())


def entry(**parts: Any) -> dict[str, Any]:
    issuer = {"url": "https://example.com", "audiences": ["my-app"]}
    return {"issuer": issuer, "claimMappings": MAPPINGS, "userValidationRules": [NO_SYSTEM_USER], **parts}


def test_the_valid_token(tmp_path: Path) -> None:
    (issuer,) = load(tmp_path, jwt=[entry()]).issuers
    assert user_of(issuer, CLAIMS).info() == {
        "username": "foo:external-user",
        "uid": "auth",
        "groups": ["user", "admin", "system:authenticated"],
        "extra": {"example.com/tenant": [TENANT]},
    }


SYSTEM = {**MAPPINGS, "username": {"expression": '"system:" + claims.username'}}
EMAIL = {"username": {"expression": "claims.email"}}


@pytest.mark.parametrize(
    ("parts", "claims", "problem"),
    [
        ({"claimValidationRules": [HD]}, CLAIMS, "no such key: hd"),
        ({"claimValidationRules": [HD], "claimMappings": SYSTEM}, {**CLAIMS, "hd": "example.com"}, NO_SYSTEM_USER["message"]),
        ({"claimValidationRules": [HD]}, {**CLAIMS, "hd": "example.org"}, HD["message"]),
        ({"claimValidationRules": [{"claim": "hd", "requiredValue": "example.com"}]}, CLAIMS, "required claim hd not present"),
        ({"claimValidationRules": [LIFETIME]}, CLAIMS, LIFETIME["message"]),
        ({"claimValidationRules": [LIFETIME]}, {**CLAIMS, **DAY}, ""),
        ({"userValidationRules": [NO_SYSTEM_USER, NO_SYSTEM_GROUP]}, {**CLAIMS, "roles": "user,system:masters"}, NO_SYSTEM_GROUP["message"]),
        ({"userValidationRules": [NO_SYSTEM_USER, NO_SYSTEM_GROUP]}, CLAIMS, ""),
        ({"claimMappings": EMAIL, "claimValidationRules": [VERIFIED]}, {"email": "a@example.com"}, ""),
        ({"claimMappings": EMAIL, "claimValidationRules": [VERIFIED]}, {"email": "a@example.com", "email_verified": True}, ""),
        ({"claimMappings": EMAIL, "claimValidationRules": [VERIFIED]}, {"email": "a@example.com", "email_verified": False}, "validation expression"),
        ({"claimMappings": EMAIL, "claimValidationRules": [VERIFIED]}, {"email": "a@example.com", "email_verified": "true"}, "validation expression"),
        ({"claimMappings": {"username": {"expression": "claims.username"}}}, {"username": ""}, "empty username"),
    ],
)  # fmt: skip
def test_rules(parts: dict[str, Any], claims: dict[str, Any], problem: str, tmp_path: Path) -> None:
    (issuer,) = load(tmp_path, jwt=[entry(**parts)]).issuers
    if not problem:
        assert user_of(issuer, claims).name
        return
    with pytest.raises(Unacceptable, match=problem):
        user_of(issuer, claims)


def test_the_file_with_every_field_is_refused_for_those_that_exclude_one_another(tmp_path: Path) -> None:
    """It says so itself: each mapping has both a claim and an expression, and the placeholders are none of the values."""
    both = {
        field: {"claim": "sub", **({"prefix": ""} if field != "uid" else {}), **MAPPINGS[field]}
        for field in ("username", "groups", "uid")
    }
    issuer = {
        "url": "https://example.com", "discoveryURL": "https://discovery.example.com/.well-known/openid-configuration",
        "certificateAuthority": "<PEM encoded CA certificates>", "audiences": ["my-app", "my-other-app"],
        "audienceMatchPolicy": "MatchAny", "egressSelectorType": "<egress-selector-type>",
    }  # fmt: skip
    full = entry(
        issuer=issuer,
        claimValidationRules=[{"claim": "hd", "requiredValue": "example.com"}, HD, LIFETIME],
        claimMappings={**both, "extra": MAPPINGS["extra"]},
        userValidationRules=[NO_SYSTEM_USER, NO_SYSTEM_GROUP],
    )
    with pytest.raises(ValueError) as failure:
        load(tmp_path, jwt=[full])
    text = str(failure.value)
    for field in ("username", "groups", "uid"):
        assert (
            f'jwt[0].claimMappings.{field}: Invalid value: "": claim and expression can\'t both be set'
            in text
        )
    assert "jwt[0].issuer.egressSelectorType: Invalid value" in text
    assert "jwt[0].issuer.certificateAuthority: Invalid value" in text
    usable = {
        key: value
        for key, value in issuer.items()
        if key not in ("egressSelectorType", "certificateAuthority")
    }
    (read,) = load(tmp_path, jwt=[{**full, "issuer": usable, "claimMappings": MAPPINGS}]).issuers
    assert read.audiences == ("my-app", "my-other-app") and read.discovery_url == issuer["discoveryURL"]
    assert user_of(read, {**CLAIMS, **DAY, "hd": "example.com"}).name == "foo:external-user"


def test_the_file_about_anonymous_clients(tmp_path: Path) -> None:
    paths = ["/livez", "/readyz", "/healthz"]
    anonymous = {"enabled": True, "conditions": [{"path": path} for path in paths]}
    read = load(tmp_path, anonymous=anonymous).anonymous
    assert read is not None and read.enabled and read.paths == set(paths)
