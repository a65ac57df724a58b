"""What the claims of a verified token say about its user; what is wrong with them is told in upstream's words."""

from __future__ import annotations

from collections.abc import Mapping as Claims
from typing import Any

import orjson

from pybernetes.api.cel.engine import CelError, Program
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings, Mapping, Rule
from pybernetes.control_plane.apiserver.authn.user import User, authenticated


class Unacceptable(Exception):
    """The claims do not make a user; the text says why."""


def user_of(settings: JwtSettings, claims: Claims[str, Any]) -> User:
    """Return the user of a token; Unacceptable if there is none."""
    name = _username(settings.username, claims)
    groups = _texts(settings.groups, claims, "group")
    uid = _uid(settings.uid, claims)
    extra = {}
    for key, expression in settings.extra:
        if values := _listed(_evaluate(expression, claims, "extra"), "extra"):
            extra[key] = values
    for claim, wanted in settings.required:
        if claim not in claims:
            raise Unacceptable(f"oidc: required claim {claim} not present in ID token")
        if not isinstance(claims[claim], str):
            raise Unacceptable(f"oidc: parse claim {claim}: it is no text")
        if claims[claim] != wanted:
            raise Unacceptable(
                f"oidc: required claim {claim} value does not match. Got = {claims[claim]}, want = {wanted}"
            )
    _check(settings.claim_rules, {"claims": claims}, "claim validation expression")
    user = authenticated(name, uid, groups, extra)
    shown = {
        "username": name,
        "uid": uid,
        "groups": list(groups),
        "extra": {key: list(texts) for key, texts in extra.items()},
    }
    _check(settings.user_rules, {"user": shown}, "user info validation rule")
    return user


def _evaluate(expression: Program, claims: Claims[str, Any], what: str) -> Any:
    try:
        return expression.evaluate({"claims": claims})
    except CelError as error:
        raise Unacceptable(f"oidc: error evaluating {what} claim expression: {error}") from None


def _username(mapping: Mapping, claims: Claims[str, Any]) -> str:
    if mapping.expression is not None:
        value = _evaluate(mapping.expression, claims, "username")
        if not isinstance(value, str):
            raise Unacceptable(
                "oidc: error evaluating username claim expression: username claim expression must return a string"
            )
        if not value:
            raise Unacceptable("oidc: empty username via CEL expression is not allowed")
        return value
    if mapping.claim not in claims:
        raise Unacceptable(f'oidc: parse username claims "{mapping.claim}": claim not present')
    value = claims[mapping.claim]
    if not isinstance(value, str):
        raise Unacceptable(f'oidc: parse username claims "{mapping.claim}": it is no text')
    if mapping.claim == "email" and "email_verified" in claims:
        # One that the provider says it has not verified may be anybody's.
        if not isinstance(claims["email_verified"], bool):
            raise Unacceptable("oidc: parse 'email_verified' claim: it is no bool")
        if not claims["email_verified"]:
            raise Unacceptable("oidc: email not verified")
    return mapping.prefix + value


def _texts(mapping: Mapping, claims: Claims[str, Any], what: str) -> tuple[str, ...]:
    if mapping.expression is not None:
        return _listed(_evaluate(mapping.expression, claims, what), what)
    if not mapping.claim or mapping.claim not in claims:
        return ()
    value = claims[mapping.claim]
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise Unacceptable(
            f'oidc: parse groups claim "{mapping.claim}": it is neither a text nor a list of texts'
        )
    return tuple(mapping.prefix + item for item in values)


def _uid(mapping: Mapping, claims: Claims[str, Any]) -> str:
    if mapping.expression is not None:
        value = _evaluate(mapping.expression, claims, "uid")
        if not isinstance(value, str):
            raise Unacceptable(
                "oidc: error evaluating uid claim expression: uid claim expression must return a string"
            )
        return value
    if not mapping.claim:
        return ""
    if not isinstance(claims.get(mapping.claim), str):
        raise Unacceptable(f'oidc: parse uid claim "{mapping.claim}": claim not present')
    return str(claims[mapping.claim])


def _listed(value: Any, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(item, str) for item in values):
        raise Unacceptable(
            f"oidc: error evaluating {what} claim expression: expression must return a string or a list of strings"
        )
    return tuple(item for item in values if item)


def _check(rules: tuple[Rule, ...], data: dict[str, Any], what: str) -> None:
    for rule in rules:
        try:
            holds = rule.expression.evaluate(data)
        except CelError as error:
            raise Unacceptable(f"oidc: error evaluating {what}: {error}") from None
        if holds is not True:
            said = rule.message or "no message"
            raise Unacceptable(
                f"oidc: error evaluating {what}: validation expression '{rule.expression.source}' failed: {said}"
            )


def claims_of(payload: bytes) -> dict[str, Any]:
    """Return the claims of a token's payload; Unacceptable if it has none."""
    try:
        claims = orjson.loads(payload)
    except ValueError:
        raise Unacceptable("oidc: parse claims: it is no JSON") from None
    if not isinstance(claims, dict):
        raise Unacceptable("oidc: parse claims: it is no object")
    return claims
