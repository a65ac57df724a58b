"""Claims that make a user, by the examples of the official documentation."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.field import Errors
from pybernetes.control_plane.apiserver.authn.jwt import configuration
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings
from pybernetes.control_plane.apiserver.authn.jwt.user_of_claims import Unacceptable, user_of

ISSUER = {"url": "https://example.com", "audiences": ["my-app"]}


def settings(**parts: Any) -> JwtSettings:
    """Return the settings of an issuer."""
    problems = Errors()
    entry = {"issuer": ISSUER, "claimMappings": {"username": {"claim": "sub", "prefix": ""}}, **parts}
    (made,) = configuration.read({"jwt": [entry]}, (), problems).issuers
    assert not problems, problems
    return made


# The page on authenticating has this configuration, with a valid token, and two that rules refuse.
DOCUMENTED: dict[str, Any] = {
    "claimMappings": {
        "username": {"expression": "claims.username + ':external-user'"},
        "groups": {"expression": "claims.roles.split(',')"},
        "uid": {"expression": "claims.sub"},
        "extra": [{"key": "example.com/tenant", "valueExpression": "claims.tenant"}],
    },
    "userValidationRules": [
        {
            "expression": "!user.username.startsWith('system:')",
            "message": "username cannot used reserved system: prefix",
        }
    ],
}
CLAIMS = {
    "sub": "auth",
    "username": "foo",
    "roles": "user,admin",
    "tenant": "72f988bf-86f1-41af-91ab-2d7cd011db4a",
}


def test_the_documented_token() -> None:
    user = user_of(settings(**DOCUMENTED), CLAIMS)
    assert user.info() == {
        "username": "foo:external-user",
        "uid": "auth",
        "groups": ["user", "admin", "system:authenticated"],
        "extra": {"example.com/tenant": ["72f988bf-86f1-41af-91ab-2d7cd011db4a"]},
    }


@pytest.mark.parametrize(
    ("parts", "claims", "text"),
    [
        (DOCUMENTED, {**CLAIMS, "username": "system:foo"}, "username cannot used reserved system: prefix"),
        (DOCUMENTED, {"sub": "auth"}, "error evaluating username claim expression: no such key: username"),
        ({"claimValidationRules": [{"expression": "claims.hd == 'example.com'", "message": "the hd claim must be set to example.com"}]},
         {"sub": "a", "hd": "other"}, "the hd claim must be set to example.com"),
        ({"claimValidationRules": [{"claim": "hd", "requiredValue": "example.com"}]}, {"sub": "a"},
         "oidc: required claim hd not present in ID token"),
        ({}, {}, 'oidc: parse username claims "sub": claim not present'),
        ({}, {"sub": 1}, "it is no text"),
        ({"claimMappings": {"username": {"claim": "email", "prefix": ""}}}, {"email": "a@b", "email_verified": False}, "oidc: email not verified"),
        ({"claimMappings": {"username": {"claim": "sub", "prefix": ""}, "groups": {"claim": "g", "prefix": "x:"}}}, {"sub": "a", "g": [1]}, "groups claim"),
        ({"claimMappings": {"username": {"expression": "claims.sub"}}}, {"sub": ""}, "empty username"),
        ({"claimMappings": {"username": {"expression": "claims.sub"}}}, {"sub": 5}, "must return a string"),
    ],
)  # fmt: skip
def test_claims_that_make_no_user(parts: Any, claims: dict[str, Any], text: str) -> None:
    with pytest.raises(Unacceptable) as error:
        user_of(settings(**parts), claims)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"issuer": {"audiences": ["a"]}}, "jwt[0].issuer.url: Required value"),
        ({"issuer": {**ISSUER, "url": "http://x"}}, 'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'),
        ({"issuer": {**ISSUER, "url": "https://own"}}, 'jwt[0].issuer.url: Invalid value: "https://own": URL must not overlap with disallowed issuers: [https://own]'),
        ({"issuer": {"url": "https://x"}}, "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required"),
        ({"issuer": {**ISSUER, "audiences": ["a", "b"]}}, 'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences'),
        ({"issuer": {**ISSUER, "discoveryURL": "https://example.com/"}}, 'jwt[0].issuer.discoveryURL: Invalid value: "https://example.com/": discoveryURL must be different from URL'),
        ({"issuer": {**ISSUER, "certificateAuthority": "x"}}, 'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates'),
        ({"claimMappings": {}}, "jwt[0].claimMappings.username: Required value: claim or expression is required"),
        ({"claimMappings": {"username": {"claim": "sub"}}}, "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing"),
        ({"claimMappings": {"username": {"claim": "sub", "expression": "claims.sub"}}}, "jwt[0].claimMappings.username: Invalid value: \"\": claim and expression can't both be set"),
        ({"claimValidationRules": [{}]}, "jwt[0].claimValidationRules[0]: Required value: claim or expression is required"),
        ({"claimValidationRules": [{"expression": "claims.a +"}]}, 'jwt[0].claimValidationRules[0].expression: Invalid value: "claims.a +": compilation failed: '),
        ({"userValidationRules": [{"expression": "user.username"}]}, 'jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool but got string'),
        ({"claimMappings": {"username": {"expression": "claims.email"}}}, "jwt[0].claimMappings.username.expression: Invalid value: \"claims.email\": claims.email_verified must be used in "),
        ({"claimMappings": {"username": {"claim": "a", "prefix": ""}, "extra": [{"key": "a.k8s.io/x", "valueExpression": "'x'"}]}},
         'jwt[0].claimMappings.extra[0].key: Invalid value: "a.k8s.io/x": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_issuer(entry: dict[str, Any], text: str) -> None:
    problems = Errors()
    usual = {"issuer": ISSUER, "claimMappings": {"username": {"claim": "sub", "prefix": ""}}}
    configuration.read({"jwt": [{**usual, **entry}]}, ("https://own",), problems)
    assert len(problems) == 1 and str(problems[0]).startswith(text), problems


def test_anonymous_conditions_need_anonymous_clients() -> None:
    problems = Errors()
    configuration.read({"anonymous": {"enabled": False, "conditions": [{"path": "/livez"}]}}, (), problems)
    (problem,) = map(str, problems)
    assert problem.endswith("enabled should be set to true when conditions are defined")
